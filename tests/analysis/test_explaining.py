"""Which words speak for a prediction: what the numbers of each method must sum to, and that they are those of captum and shap."""

from __future__ import annotations

import copy
import itertools

import numpy as np
import pytest
import torch
from captum.attr import InputXGradient, IntegratedGradients, LayerGradientXActivation, Lime
from scipy.stats import spearmanr

from analysis import Question, agreement, attributions, explain, rollout, spread
from analysis.effects import log_softmax
from analysis.explaining import DRAWN, LOOKS, METHODS, passes_needed
from analysis.sampling import neighbours
from analysis.slopes import adds_to_tokens
from models.entering import logits_from, streams_of
from tests.models.edited import model, target
from tests.models.networks import network
from tests.models.test_generate import ours

MASKED = "The dog ran into the <mask> with a bone."
TEXTS = {"filler": MASKED.replace("<mask>", "<|mask|>"), "BERT": MASKED, "ALBERT": MASKED}
THEIRS = (
    "GPT-2", "Llama, grouped-query", "Mistral, sliding window", "Gemma 2, soft-capped", "Mixtral", "GPT-NeoX", "BLOOM", "Falcon",
    "BERT", "ALBERT", "T5", "BART",
)  # fmt: skip
ASKED = ("writer", "filler", "translator", *THEIRS)
HEADLESS = "BERT without a head"
every = pytest.mark.parametrize("name", ASKED)


def asked(name: str, against: int | None = None, text: str = "") -> Question:
    made = model(name)
    text = (text or TEXTS.get(name, "The dog ran to the old house and sat on the")).replace("<|mask|>", made.info.mask or "")
    trace = made.trace(text, target(name))
    place = made.places(trace)[0]
    first, second = (one.id for one in made.top(trace.logits_at(place), place, 2))
    return Question(made, trace, place, first, second if against else None)


def ends(question: Question) -> tuple[float, float]:
    """The evidence with all units and with none, from the model's own logits."""
    count = len(question.units)
    position = question.position if question.model.info.kind == "encoder" else -1
    found = []
    for kept in (np.ones(count, bool), np.zeros(count, bool)):
        row = log_softmax(question.model.logits_of([question.text(kept)], position, question.target(kept)))[0]
        found.append(row[question.token] - (0 if question.against is None else row[question.against]))
    return found[0], found[1]


@every
@pytest.mark.parametrize("against", [False, True])
@pytest.mark.parametrize("method", ["shap", "sampled shap"])
def test_shap_values_sum_to_what_the_whole_text_has_more_than_none(name, method, against):
    question = asked(name, against)
    found, (full, none) = explain(question, method), ends(question)
    assert found.total == pytest.approx(full - none, abs=1e-4 * max(1, abs(full), abs(none)))
    assert found.difference == pytest.approx(full - none, abs=1e-4)


@every
@pytest.mark.parametrize("against", [False, True])
def test_integrated_gradients_sum_to_their_difference(name, against):
    """To 2 % of it, or 0.02 nats, with 64 steps."""
    found = explain(asked(name, against), "integrated gradients")
    assert found.total == pytest.approx(found.difference, rel=0.02, abs=0.02)
    assert np.abs(found.scores[np.isfinite(found.scores)]).max() > 1e-4


@pytest.mark.parametrize("name", ["writer", "filler", "translator", "GPT-2", "T5"])
def test_integrated_gradients_go_from_the_text_of_nothing_to_the_text(name):
    """Whose evidence is that of these ids, read as any text."""
    from analysis.slopes import nothing

    question = asked(name)
    made, trace = question.model, question.trace
    read, count = [*trace.tokens, *trace.target], len(trace.tokens)
    empty = [nothing(question) if i in question.units else token for i, token in enumerate(read)]
    logits = [made.logits_of([text[:count]], question.position, text[count:])[0] for text in (empty, read)]
    first, last = log_softmax(np.array(logits))[:, question.token]
    assert explain(question, "integrated gradients").difference == pytest.approx(last - first, abs=1e-3)


@every
def test_a_stream_that_is_put_back_gives_the_logits_of_the_text(name):
    question = asked(name)
    made, trace = question.model, question.trace
    streams = streams_of(made, trace, [trace.tokens])
    with torch.inference_mode():
        found = logits_from(made, trace, [one.expand(2, -1, -1) for one in streams], question.position).float().numpy()
    expected = trace.logits_at(question.position)
    assert found == pytest.approx(np.stack([expected] * 2), abs=1e-4 * max(1, float(np.abs(expected).max())))


@pytest.mark.parametrize("name", ["writer", "filler", "translator", "GPT-2"])
def test_captum_called_directly_gives_the_same_slopes(name):
    """On the plain autograd of the network's own embedding of whole texts."""
    question = asked(name)
    made, trace = question.model, question.trace
    streams = streams_of(made, trace, [trace.tokens])

    def joined(found: tuple[torch.Tensor, ...]) -> np.ndarray:
        return np.concatenate([one.detach().sum(-1)[0].numpy() for one in found])

    def evidence(*streams: torch.Tensor) -> torch.Tensor:
        logits = logits_from(made, trace, streams, question.position)
        return torch.log_softmax(logits, -1)[:, question.token]

    direct = joined(InputXGradient(evidence).attribute(tuple(one.clone().requires_grad_() for one in streams)))
    found = explain(question, "gradient × input").scores
    assert found[question.units] == pytest.approx(direct[question.units], abs=1e-5)
    sign = made.tokenize(made.info.mask)[1] if made.info.mask else trace.tokens[0] if trace.tokens[0].special else None
    if sign is None:
        return
    read, count = [*trace.tokens, *trace.target], len(trace.tokens)
    empty = [sign if i in question.units else token for i, token in enumerate(read)]
    begin = streams_of(made, trace, [empty[:count]], [empty[count:]])
    direct = joined(IntegratedGradients(evidence).attribute(streams, begin, n_steps=64))
    found = explain(question, "integrated gradients").scores
    assert found[question.units] == pytest.approx(direct[question.units], abs=1e-4)


LAYERS = {
    "GPT-2": lambda network: [network.transformer.wte],
    "OPT": lambda network: [network.model.decoder.embed_tokens],
    "BERT": lambda network: [network.bert.embeddings.word_embeddings],
    "ALBERT": lambda network: [network.albert.embeddings.word_embeddings],
    "Llama, grouped-query": lambda network: [network.model.embed_tokens],
}


@pytest.mark.parametrize("name", LAYERS)
def test_the_slope_against_token_embeddings_is_captums_of_that_layer(name):
    """On transformers' own network, by captum's own hooks on its table of tokens."""
    question = asked(name)
    plain = network(name).requires_grad_(True)
    ids, place = torch.tensor([[token.id for token in question.trace.tokens]]), question.position

    def evidence(ids: torch.Tensor) -> torch.Tensor:
        return torch.log_softmax(plain(ids).logits[:, place], -1)[:, question.token]

    (layer,) = LAYERS[name](plain)
    direct = LayerGradientXActivation(evidence, layer).attribute(ids)[0].sum(-1).detach().numpy()
    found = explain(question, "gradient × input", tokens_alone=True)
    assert found.scores[question.units] == pytest.approx(direct[question.units], abs=1e-4) and found.kind == "token embedding"
    other = explain(question, "gradient × input")
    same = np.allclose(other.scores, found.scores, atol=1e-4, equal_nan=True)
    assert (other.kind, same) == (("token embedding", True) if "Llama" in name else ("layer input", False))


def test_the_slope_against_token_embeddings_of_both_stacks_is_captums():
    question = asked("BART")
    plain = network("BART").requires_grad_(True)
    encoder, decoder = plain.model.encoder.embed_tokens, plain.model.decoder.embed_tokens
    read, said = (torch.tensor([[one.id for one in some]]) for some in (question.trace.tokens, question.trace.target))

    def evidence(read: torch.Tensor, said: torch.Tensor) -> torch.Tensor:
        logits = plain(input_ids=read, decoder_input_ids=said).logits[:, question.position]
        return torch.log_softmax(logits, -1)[:, question.token]

    with torch.no_grad():  # a table of its own for each, so that captum tells their calls apart
        plain.model.decoder.embed_tokens = copy.deepcopy(decoder)
        plain.model.encoder.embed_tokens = copy.deepcopy(encoder)
    layers = [plain.model.encoder.embed_tokens, plain.model.decoder.embed_tokens]
    direct = LayerGradientXActivation(evidence, layers).attribute((read, said))
    expected = np.concatenate([one[0].sum(-1).detach().numpy() for one in direct])
    found = explain(question, "gradient × input", tokens_alone=True).scores
    assert found[question.units] == pytest.approx(expected[question.units], abs=1e-4)


@pytest.mark.parametrize(("positions", "adds"), [("rotary", False), ("none", False), ("learned", True), ("sinusoidal", True)])
def test_what_is_added_to_tokens_is_told_from_what_is_not(positions, adds):
    """And without it the two ways to take the slope give the same, whatever the embedding is scaled by."""
    made = ours("decoder", positions=positions, embedding_scale=True)
    trace = made.trace("the cat sat on")
    question = Question(made, trace, len(trace.tokens) - 1, 5)
    assert adds_to_tokens(question) == adds
    both = [explain(question, "gradient × input", tokens_alone=alone).scores for alone in (False, True)]
    assert np.allclose(*both, atol=1e-5, equal_nan=True) != adds


def test_the_slope_is_that_of_transformers_own_network():
    """GPT-2 of transformers, given the sum of its embeddings, and autograd."""
    question = asked("GPT-2")
    gpt, ids = network("GPT-2"), torch.tensor([[token.id for token in question.trace.tokens]])
    words = gpt.transformer.wte(ids).detach()
    places = gpt.transformer.wpe(torch.arange(ids.shape[1])).detach()
    leaf = words.clone().requires_grad_()
    torch.log_softmax(gpt(inputs_embeds=leaf).logits[0, -1], -1)[question.token].backward()
    expected = (leaf.grad[0] * (words[0] + places)).sum(-1).numpy()
    assert explain(question, "gradient × input").scores == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("name", ["writer", "filler", "translator"])
def test_captums_lime_gives_the_same(name):
    """With its own way to draw texts, from the same seed."""
    from captum._utils.models.linear_model import SkLearnRidge
    from captum.attr._core.lime import get_exp_kernel_similarity_function

    question = asked(name)
    whole = torch.ones(1, len(question.units))

    def evidence(kept: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(question.evidence(kept.numpy() > 0.5))

    with torch.random.fork_rng():
        torch.manual_seed(3)
        similar = get_exp_kernel_similarity_function("cosine", 0.25)
        direct = Lime(evidence, SkLearnRidge(alpha=1.0), similar).attribute(whole, n_samples=500)[0].numpy()
    assert explain(question, "lime", seed=3).scores[question.units] == pytest.approx(direct, abs=1e-5)


@pytest.mark.parametrize("name", ["writer", "filler", "GPT-2"])
def test_shap_called_directly_gives_the_same(name):
    import shap

    question = asked(name)
    count = len(question.units)

    def evidence(kept: np.ndarray) -> np.ndarray:
        return question.evidence(kept > 0.5)

    masker = shap.maskers.Partition(np.zeros((1, count)), clustering=neighbours(count))
    limit = passes_needed("shap", count)
    direct = shap.explainers.PartitionExplainer(evidence, masker)(np.ones((1, count)), max_evals=limit, silent=True).values[0]
    assert explain(question, "shap").scores[question.units] == pytest.approx(direct, abs=1e-6)
    plain = shap.maskers.Independent(np.zeros((1, count)))
    permuted = shap.explainers.PermutationExplainer(evidence, plain, seed=4)
    direct = permuted(np.ones((1, count)), max_evals=10 * (2 * count + 1), silent=True).values[0]
    assert explain(question, "sampled shap", seed=4).scores[question.units] == pytest.approx(direct, abs=1e-6)


@pytest.mark.parametrize("method", ["shap", "sampled shap"])
def test_shap_finds_what_is_added_up(method, monkeypatch):
    """Where each unit adds a number of its own, that number is its value, in whatever order it comes."""
    question = asked("writer")
    worth = np.random.default_rng(0).normal(size=len(question.units))
    monkeypatch.setattr(Question, "evidence", lambda self, kept, report=None: np.asarray(kept) @ worth)
    assert explain(question, method).scores[question.units] == pytest.approx(worth, abs=1e-6)
    assert explain(question, "leave-one-out").scores[question.units] == pytest.approx(worth, abs=1e-6)
    ranked = spearmanr(explain(question, "lime").scores[question.units], worth).statistic
    assert ranked == pytest.approx(1)


SHORT = {"writer": "The cat sat on the", "filler": "The dog ran to the <|mask|>", "translator": "the cat sat", "GPT-2": "the cat"}


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("against", [False, True])
def test_shap_of_few_tokens_is_the_mean_over_every_order(name, against):
    """Not an estimate: what a token brings when its turn comes, over all n! orders, and shap's own exact explainer."""
    import shap

    question = asked(name, against, SHORT[name])
    count = len(question.units)
    assert 2 <= count <= 6

    def evidence(kept: np.ndarray) -> np.ndarray:
        return question.evidence(kept > 0.5)

    expected = np.zeros(count)
    orders = list(itertools.permutations(range(count)))
    for order in orders:
        values = evidence(np.array([np.isin(np.arange(count), order[:size]) for size in range(count + 1)]))
        expected[list(order)] += np.diff(values) / len(orders)
    found = explain(question, "sampled shap")
    assert found.scores[question.units] == pytest.approx(expected, abs=1e-4)
    exact = shap.explainers.ExactExplainer(evidence, shap.maskers.Independent(np.zeros((1, count))))
    direct = exact(np.ones((1, count)), max_evals=2**count, silent=True).values[0]
    assert found.scores[question.units] == pytest.approx(direct, abs=1e-4)
    assert (found.kind, found.draws, found.passes) == ("enumerated", None, 2**count)
    assert explain(question, "sampled shap", seed=9).scores == pytest.approx(found.scores, nan_ok=True)


def test_the_standard_error_of_sampled_shap_is_how_far_other_seeds_are_apart(monkeypatch):
    """In a game whose tokens work in pairs, over 80 seeds: the spread of the estimates, and none where each adds its own."""
    question = asked("writer")
    count = len(question.units)
    assert count > 8
    draw = np.random.default_rng(0)
    alone, pairs = draw.normal(size=count), draw.normal(size=(count, count))

    def game(self: Question, kept: np.ndarray, report: object = None) -> np.ndarray:
        kept = np.asarray(kept, float)
        return kept @ alone + ((kept @ pairs) * kept).sum(1) + 3 * kept[:, 0] * kept[:, 3] * kept[:, 5]

    monkeypatch.setattr(Question, "evidence", game)
    groups = [[unit] for unit in question.units] + [question.units[2:5]]
    answers = [explain(question, "sampled shap", seed) for seed in range(80)]
    assert {answer.kind for answer in answers} == {"sampled"}
    sums = np.array([[answer.scores[group].sum() for group in groups] for answer in answers])
    errors = np.array([answer.errors(groups) for answer in answers])
    spread_of_seeds, expected = sums.std(0, ddof=1), np.sqrt((errors**2).mean(0))
    noisy = spread_of_seeds > 1e-6  # what only works in pairs is the same forth and back, in every order
    assert noisy.sum() >= 3
    assert expected[noisy] == pytest.approx(spread_of_seeds[noisy], rel=0.25)
    assert expected[~noisy] == pytest.approx(0, abs=1e-6)
    assert all(answer.draws.mean(0)[question.units] == pytest.approx(answer.scores[question.units]) for answer in answers)
    assert explain(question, "shap").kind == "tree" and explain(question, "lime").errors(groups) is None


@every
def test_leave_one_out_is_a_plain_loop(name):
    question = asked(name)
    made = question.model
    position = question.position if made.info.kind == "encoder" else -1

    def evidence(gone: int | None) -> float:
        kept = np.array([unit != gone for unit in question.units])
        return float(log_softmax(made.logits_of([question.text(kept)], position, question.target(kept)))[0, question.token])

    expected = [evidence(None) - evidence(unit) for unit in question.units]
    found = explain(question, "leave-one-out")
    assert found.scores[question.units] == pytest.approx(expected, abs=1e-4 * max(1, float(np.abs(expected).max())))
    assert found.passes == len(question.units) + 1
    assert np.isnan(np.delete(found.scores, question.units)).all()


def test_rollout_here_is_rollout():
    question = asked("writer")
    found = explain(question, "rollout").scores
    assert found == pytest.approx(rollout(question.trace.attention["self"])[-1, question.position], abs=1e-6)


@pytest.mark.parametrize("method", [method for method in METHODS if method != "rollout"])
def test_a_contrast_turned_round_turns_the_evidence_round(method):
    question = asked("writer", against=True)
    turned = Question(question.model, question.trace, question.position, question.against, question.token)
    one, other = explain(question, method).scores, explain(turned, method).scores
    if method in LOOKS:  # of each only what is above 0 is counted
        assert not np.allclose(one, other, equal_nan=True)
        return
    assert one[question.units] == pytest.approx(-other[question.units], abs=1e-3)


def test_a_contrast_is_the_difference_of_two_explanations_where_a_method_is_a_sum():
    question = asked("writer", against=True)
    alone = [Question(question.model, question.trace, question.position, token) for token in (question.token, question.against)]
    for method in ("leave-one-out", "gradient × input"):
        first, second = (explain(one, method).scores for one in alone)
        assert explain(question, method).scores[question.units] == pytest.approx((first - second)[question.units], abs=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_one_token_has_all_of_it(method):
    trace = model("writer").trace("dog")
    question = Question(model("writer"), trace, len(trace.tokens) - 1, 300)
    found = explain(question, method)
    if method in ("leave-one-out", "shap", "sampled shap"):
        full, none = ends(question)
        assert found.total == pytest.approx(full - none, abs=1e-4)
    assert np.isfinite(found.scores[question.units]).all() and len(question.units) == 1


def test_only_what_is_drawn_hangs_on_the_seed():
    question = asked("writer")
    for method in METHODS:
        rows = spread(question, method, 2)[:, question.units]
        assert np.array_equal(rows[0], rows[1]) == (method not in DRAWN)


def test_agreement_is_spearmans_of_every_two():
    question = asked("writer")
    found = [explain(question, method) for method in ("leave-one-out", "integrated gradients", "rollout")]
    ranks = agreement(found, question.units)
    assert np.diag(ranks) == pytest.approx(1) and ranks == pytest.approx(ranks.T)
    expected = spearmanr(found[0].scores[question.units], found[1].scores[question.units]).statistic
    assert ranks[0, 1] == pytest.approx(expected)


def test_attributions_of_a_text():
    made, question = model("writer"), asked("writer")
    found = attributions(made, question.trace.text, "leave-one-out")
    assert found.shape == (len(question.trace.tokens),)
    assert found == pytest.approx(explain(question, "leave-one-out").scores, nan_ok=True)
    middle = attributions(made, question.trace.text, "integrated gradients", position=4)
    assert np.isfinite(middle[1:5]).all() and np.isnan(middle[5:]).all()


def test_what_cannot_be_explained_is_said():
    made = model("writer")
    with pytest.raises(ValueError, match="must be one of leave-one-out"):
        attributions(made, "The dog", "magic")
    with pytest.raises(ValueError, match="no token that could be taken away"):
        attributions(made, "", "shap")
    with pytest.raises(ValueError, match="A token against itself"):
        attributions(made, "The dog", "shap", token=300, against=300)
    with pytest.raises(ValueError, match="no token 99999"):
        attributions(made, "The dog", "shap", token=99999)
    with pytest.raises(ValueError, match="no position 99"):
        attributions(made, "The dog", "shap", position=99)


def test_a_model_without_a_head_says_so():
    from models.huggingface.model import HuggingFaceModel
    from tests.models.networks import tokenizer

    made = HuggingFaceModel(network(HEADLESS), tokenizer("encoder"), "encoder", False, HEADLESS)
    with pytest.raises(ValueError, match="no language-model head"):
        attributions(made, "The dog", "lime")


def test_work_can_be_left_in_the_middle():
    from models.errors import Cancelled

    def report(share: float, words: str) -> None:
        assert 0 <= share <= 1
        raise Cancelled

    for method in ("leave-one-out", "integrated gradients", "lime", "shap", "sampled shap"):
        with pytest.raises(Cancelled):
            explain(asked("writer"), method, report=report)


def test_a_tree_of_neighbours_joins_neighbours():
    for count in (2, 3, 7, 8):
        held = {i: [i] for i in range(count)}
        for row, (one, other, _, size) in enumerate(neighbours(count)):
            both = held.pop(int(one)) + held.pop(int(other))
            assert both == list(range(both[0], both[0] + int(size)))
            held[count + row] = both
        assert len(held) == 1


@pytest.mark.parametrize("name", ["T5", "BART", "translator"])
def test_what_an_encoder_decoder_has_said_speaks_for_what_comes_next(name):
    """Its start is never taken away, what comes after the position is not asked about, and other targets may be read at once."""
    made = model(name)
    trace = made.trace("The dog ran to the old house", "Le chien court")
    position = len(trace.target) - 2
    question = Question(made, trace, position, int(trace.logits_at(position).argmax()))
    count, begin = len(trace.tokens), next(i for i, token in enumerate(trace.target) if not token.special)
    assert [unit for unit in question.units if unit >= count] == list(range(count + begin, count + position + 1))
    kept = np.ones((3, len(question.units)), bool)
    kept[1, -1] = kept[2, 0] = False
    full, without_said, without_source = question.evidence(kept)
    logits = trace.logits_at(position)
    assert full == pytest.approx(float(log_softmax(logits)[question.token]), abs=1e-3)
    said = [token for i, token in enumerate(trace.target[: position + 1]) if i != position]
    expected = made.logits_of([trace.tokens], -1, said)[0]
    assert without_said == pytest.approx(float(log_softmax(expected)[question.token]), abs=1e-3)
    assert without_source != pytest.approx(full, abs=1e-6)
    others = [trace.target[:2], [trace.target[0], trace.target[-1]]]
    at_once = made.logits_of([trace.tokens] * 2, -1, others)
    one_by_one = [made.logits_of([trace.tokens], -1, one)[0] for one in others]
    np.testing.assert_allclose(at_once, one_by_one, atol=1e-4)
    for method in METHODS:
        scores = explain(question, method).scores
        assert len(scores) == count + len(trace.target) and np.isfinite(scores[question.units]).all()
        assert np.abs(scores[[unit for unit in question.units if unit >= count]]).max() > 0
        assert np.isnan(scores[count + position + 1 :]).all()
