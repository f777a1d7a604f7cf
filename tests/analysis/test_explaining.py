"""Attributions of words to a prediction: what the numbers of each method sum to, and that they are captum's and shap's."""

from __future__ import annotations

import copy
from itertools import permutations, product

import numpy as np
import pytest
import torch
from captum.attr import InputXGradient, IntegratedGradients, LayerGradientXActivation, Lime
from scipy.stats import spearmanr

from analysis import Question, explain, rollout, spread
from analysis.effects import log_softmax
from analysis.explaining import DRAWN, LOOKS, METHODS, passes_needed
from analysis.lime_and_shap import neighbours
from analysis.slopes import adds_to_tokens
from models.gradients.embeddings import logits_from, streams_of
from tests.grids import grid, pairwise
from tests.models.edited import model, target
from tests.models.generation.test_generate import ours
from tests.models.networks import network

MASKED = "The dog ran into the <mask> with a bone."
TEXTS = {"filler": MASKED.replace("<mask>", "<|mask|>"), "BERT": MASKED, "ALBERT": MASKED}
THEIRS = (
    "GPT-2",
    "Llama, grouped-query",
    "Mistral, sliding window",
    "Gemma 2, soft-capped",
    "Mixtral",
    "GPT-NeoX",
    "BLOOM",
    "Falcon",
    "BERT",
    "ALBERT",
    "T5",
    "BART",
)
ASKED = ("writer", "filler", "translator", *THEIRS)
HEADLESS = "BERT without a head"
PATHS = ("writer", "filler", "translator", "BLOOM")  # of these, `make test` asks both methods, and a contrast of each method
SUMS = pairwise((*PATHS, *(name for name in ASKED if name not in PATHS)), ("shap", "sampled shap"), (False, True))
every_model = pytest.mark.parametrize("name", ASKED)


def question_of(name: str, against: int | None = None, text: str = "") -> Question:
    net = model(name)
    text = (text or TEXTS.get(name, "The dog ran to the old house and sat on the")).replace("<|mask|>", net.info.mask or "")
    trace = net.trace(text, target(name))
    place = net.places(trace)[0]
    first, second = (choice.id for choice in net.top(trace.logits_at(place), place, 2))
    return Question(net, trace, place, first, second if against else None)


def ends(question: Question) -> tuple[float, float]:
    """The evidence with all units and with none, from the model's own logits."""
    count = len(question.units)
    position = question.position if question.model.info.kind == "encoder" else -1
    evidence = []
    for keep in (np.ones(count, bool), np.zeros(count, bool)):
        row = log_softmax(question.model.logits_of([question.text(keep)], position, question.target(keep)))[0]
        evidence.append(row[question.token] - (0 if question.against is None else row[question.against]))
    return evidence[0], evidence[1]


@pytest.mark.parametrize(("name", "method", "against"), grid(SUMS, [row for row in SUMS if row[0] in PATHS]))
def test_shap_values_sum_to_what_the_whole_text_has_more_than_none(name, method, against):
    question = question_of(name, against)
    explanation, (full, empty) = explain(question, method), ends(question)
    assert explanation.total == pytest.approx(full - empty, abs=1e-4 * max(1, abs(full), abs(empty)))
    assert explanation.difference == pytest.approx(full - empty, abs=1e-4)


@every_model
@pytest.mark.parametrize("against", [False, True])
def test_integrated_gradients_sum_to_their_difference(name, against):
    """To 2 % of it, or 0.02 nats, with 64 steps."""
    explanation = explain(question_of(name, against), "integrated gradients")
    assert explanation.total == pytest.approx(explanation.difference, rel=0.02, abs=0.02)
    assert np.abs(explanation.scores[np.isfinite(explanation.scores)]).max() > 1e-4


@pytest.mark.parametrize("name", ["writer", "filler", "translator", "GPT-2", "T5"])
def test_integrated_gradients_go_from_the_text_of_nothing_to_the_text(name):
    """Their evidence is that of these ids, read as any text."""
    from analysis.slopes import nothing

    question = question_of(name)
    net, trace = question.model, question.trace
    tokens, count = [*trace.tokens, *trace.target], len(trace.tokens)
    empty = [nothing(question) if i in question.units else token for i, token in enumerate(tokens)]
    logits = [net.logits_of([text[:count]], question.position, text[count:])[0] for text in (empty, tokens)]
    first, last = log_softmax(np.array(logits))[:, question.token]
    assert explain(question, "integrated gradients").difference == pytest.approx(last - first, abs=1e-3)


@every_model
def test_a_stream_that_is_put_back_gives_the_logits_of_the_text(name):
    question = question_of(name)
    net, trace = question.model, question.trace
    streams = streams_of(net, trace, [trace.tokens])
    with torch.inference_mode():
        logits = logits_from(net, trace, [stream.expand(2, -1, -1) for stream in streams], question.position).float().numpy()
    expected = trace.logits_at(question.position)
    assert logits == pytest.approx(np.stack([expected] * 2), abs=1e-4 * max(1, float(np.abs(expected).max())))


@pytest.mark.parametrize("name", ["writer", "filler", "translator", "GPT-2"])
def test_captum_called_directly_gives_the_same_slopes(name):
    """On the plain autograd of the network's own embedding of whole texts."""
    question = question_of(name)
    net, trace = question.model, question.trace
    streams = streams_of(net, trace, [trace.tokens])

    def sum_tokens(parts: tuple[torch.Tensor, ...]) -> np.ndarray:
        return np.concatenate([attribution.detach().sum(-1)[0].numpy() for attribution in parts])

    def evidence(*streams: torch.Tensor) -> torch.Tensor:
        logits = logits_from(net, trace, streams, question.position)
        return torch.log_softmax(logits, -1)[:, question.token]

    direct = sum_tokens(InputXGradient(evidence).attribute(tuple(stream.clone().requires_grad_() for stream in streams)))
    scores = explain(question, "gradient × input").scores
    assert scores[question.units] == pytest.approx(direct[question.units], abs=1e-5)
    sign = net.tokenize(net.info.mask)[1] if net.info.mask else trace.tokens[0] if trace.tokens[0].special else None
    if sign is None:
        return
    tokens, count = [*trace.tokens, *trace.target], len(trace.tokens)
    empty = [sign if i in question.units else token for i, token in enumerate(tokens)]
    begin = streams_of(net, trace, [empty[:count]], [empty[count:]])
    direct = sum_tokens(IntegratedGradients(evidence).attribute(streams, begin, n_steps=64))
    scores = explain(question, "integrated gradients").scores
    assert scores[question.units] == pytest.approx(direct[question.units], abs=1e-4)


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
    question = question_of(name)
    plain = network(name).requires_grad_(True)
    ids, place = torch.tensor([[token.id for token in question.trace.tokens]]), question.position

    def evidence(ids: torch.Tensor) -> torch.Tensor:
        return torch.log_softmax(plain(ids).logits[:, place], -1)[:, question.token]

    (layer,) = LAYERS[name](plain)
    direct = LayerGradientXActivation(evidence, layer).attribute(ids)[0].sum(-1).detach().numpy()
    explanation = explain(question, "gradient × input", tokens_alone=True)
    assert (
        explanation.scores[question.units] == pytest.approx(direct[question.units], abs=1e-4)
        and explanation.kind == "token embedding"
    )
    by_input = explain(question, "gradient × input")
    same = np.allclose(by_input.scores, explanation.scores, atol=1e-4, equal_nan=True)
    assert (by_input.kind, same) == (("token embedding", True) if "Llama" in name else ("layer input", False))


def test_the_slope_against_token_embeddings_of_both_stacks_is_captums():
    question = question_of("BART")
    plain = network("BART").requires_grad_(True)
    encoder, decoder = plain.model.encoder.embed_tokens, plain.model.decoder.embed_tokens
    source, reply = (torch.tensor([[token.id for token in tokens]]) for tokens in (question.trace.tokens, question.trace.target))

    def evidence(source: torch.Tensor, reply: torch.Tensor) -> torch.Tensor:
        logits = plain(input_ids=source, decoder_input_ids=reply).logits[:, question.position]
        return torch.log_softmax(logits, -1)[:, question.token]

    with torch.no_grad():  # a table of its own for each, so that captum tells their calls apart
        plain.model.decoder.embed_tokens = copy.deepcopy(decoder)
        plain.model.encoder.embed_tokens = copy.deepcopy(encoder)
    layers = [plain.model.encoder.embed_tokens, plain.model.decoder.embed_tokens]
    direct = LayerGradientXActivation(evidence, layers).attribute((source, reply))
    expected = np.concatenate([attribution[0].sum(-1).detach().numpy() for attribution in direct])
    scores = explain(question, "gradient × input", tokens_alone=True).scores
    assert scores[question.units] == pytest.approx(expected[question.units], abs=1e-4)


@pytest.mark.parametrize(("positions", "adds"), [("rotary", False), ("none", False), ("learned", True), ("sinusoidal", True)])
def test_what_is_added_to_tokens_is_told_from_what_is_not(positions, adds):
    """And without it the two ways to take the slope give the same, whatever the embedding is scaled by."""
    net = ours("decoder", positions=positions, embedding_scale=True)
    trace = net.trace("the cat sat on")
    question = Question(net, trace, len(trace.tokens) - 1, 5)
    assert adds_to_tokens(question) == adds
    scores = [explain(question, "gradient × input", tokens_alone=alone).scores for alone in (False, True)]
    assert np.allclose(*scores, atol=1e-5, equal_nan=True) != adds


def test_the_slope_is_that_of_transformers_own_network():
    """GPT-2 of transformers, given the sum of its embeddings, and autograd."""
    question = question_of("GPT-2")
    gpt, ids = network("GPT-2"), torch.tensor([[token.id for token in question.trace.tokens]])
    words = gpt.transformer.wte(ids).detach()
    places = gpt.transformer.wpe(torch.arange(ids.shape[1])).detach()
    leaf = words.clone().requires_grad_()
    torch.log_softmax(gpt(inputs_embeds=leaf).logits[0, -1], -1)[question.token].backward()
    expected = (leaf.grad[0] * (words[0] + places)).sum(-1).numpy()
    assert explain(question, "gradient × input").scores == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("name", grid(["GPT-2", "BERT", "T5"], ["GPT-2"]))
def test_captums_lime_gives_the_same(name):
    """With its own way to draw texts, from the same seed."""
    from captum._utils.models.linear_model import SkLearnRidge
    from captum.attr._core.lime import get_exp_kernel_similarity_function

    question = question_of(name)
    all_units = torch.ones(1, len(question.units))

    def evidence(keep: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(question.evidence(keep.numpy() > 0.5))

    with torch.random.fork_rng():
        torch.manual_seed(3)
        similar = get_exp_kernel_similarity_function("cosine", 0.25)
        lime = Lime(evidence, SkLearnRidge(alpha=1.0), similar)
        direct = lime.attribute(all_units, n_samples=500, perturbations_per_eval=64)[0].numpy()
    assert explain(question, "lime", seed=3).scores[question.units] == pytest.approx(direct, abs=1e-5)


@pytest.mark.parametrize("name", grid(["writer", "filler", "GPT-2"], ["GPT-2"]))
def test_shap_called_directly_gives_the_same(name):
    import shap

    question = question_of(name)
    count = len(question.units)

    def evidence(keep: np.ndarray) -> np.ndarray:
        return question.evidence(keep > 0.5)

    masker = shap.maskers.Partition(np.zeros((1, count)), clustering=neighbours(count))
    limit = passes_needed("shap", count)
    direct = shap.explainers.PartitionExplainer(evidence, masker)(np.ones((1, count)), max_evals=limit, silent=True).values[0]
    assert explain(question, "shap").scores[question.units] == pytest.approx(direct, abs=1e-5)
    plain = shap.maskers.Independent(np.zeros((1, count)))
    explainer = shap.explainers.PermutationExplainer(evidence, plain, seed=4)
    direct = explainer(np.ones((1, count)), max_evals=10 * (2 * count + 1), batch_size=64, silent=True).values[0]
    assert explain(question, "sampled shap", seed=4).scores[question.units] == pytest.approx(direct, abs=1e-5)


@pytest.mark.parametrize("method", ["shap", "sampled shap"])
def test_shap_finds_what_is_added_up(method, monkeypatch):
    """Where each unit adds a number of its own, that number is its value, in whatever order it comes."""
    question = question_of("writer")
    worth = np.random.default_rng(0).normal(size=len(question.units))
    monkeypatch.setattr(Question, "evidence", lambda self, keep, report=None: np.asarray(keep) @ worth)
    assert explain(question, method).scores[question.units] == pytest.approx(worth, abs=1e-6)
    assert explain(question, "leave-one-out").scores[question.units] == pytest.approx(worth, abs=1e-6)
    correlation = spearmanr(explain(question, "lime").scores[question.units], worth).statistic
    assert correlation == pytest.approx(1)


SHORT = {"writer": "The cat sat on the", "filler": "The dog ran to the <|mask|>", "translator": "the cat sat", "GPT-2": "the cat"}


@pytest.mark.parametrize(("name", "against"), grid(product(SHORT, (False, True)), [("filler", False), ("GPT-2", True)]))
def test_shap_of_few_tokens_is_the_mean_over_every_order(name, against):
    """Not an estimate: what a token brings when its turn comes, over all n! orders, and shap's own exact explainer."""
    import shap

    question = question_of(name, against, SHORT[name])
    count = len(question.units)
    assert 2 <= count <= 6

    def evidence(keep: np.ndarray) -> np.ndarray:
        return question.evidence(keep > 0.5)

    expected = np.zeros(count)
    orders = list(permutations(range(count)))
    for order in orders:
        values = evidence(np.array([np.isin(np.arange(count), order[:size]) for size in range(count + 1)]))
        expected[list(order)] += np.diff(values) / len(orders)
    explanation = explain(question, "sampled shap")
    assert explanation.scores[question.units] == pytest.approx(expected, abs=1e-4)
    exact = shap.explainers.ExactExplainer(evidence, shap.maskers.Independent(np.zeros((1, count))))
    direct = exact(np.ones((1, count)), max_evals=2**count, silent=True).values[0]
    assert explanation.scores[question.units] == pytest.approx(direct, abs=1e-4)
    assert (explanation.kind, explanation.draws, explanation.passes) == ("enumerated", None, 2**count)
    assert explain(question, "sampled shap", seed=9).scores == pytest.approx(explanation.scores, nan_ok=True)


def test_the_standard_error_of_sampled_shap_is_how_far_other_seeds_are_apart(monkeypatch):
    """In a game whose tokens work in pairs, over 80 seeds: the spread of the estimates, and none where each adds its own."""
    question = question_of("writer")
    count = len(question.units)
    assert count > 8
    draw = np.random.default_rng(0)
    alone, pairs = draw.normal(size=count), draw.normal(size=(count, count))

    def game(self: Question, keep: np.ndarray, report: object = None) -> np.ndarray:
        keep = np.asarray(keep, float)
        return keep @ alone + ((keep @ pairs) * keep).sum(1) + 3 * keep[:, 0] * keep[:, 3] * keep[:, 5]

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


@every_model
def test_leave_one_out_is_a_plain_loop(name):
    question = question_of(name)
    net = question.model
    position = question.position if net.info.kind == "encoder" else -1

    def evidence(removed: int | None) -> float:
        keep = np.array([unit != removed for unit in question.units])
        return float(log_softmax(net.logits_of([question.text(keep)], position, question.target(keep)))[0, question.token])

    expected = [evidence(None) - evidence(unit) for unit in question.units]
    explanation = explain(question, "leave-one-out")
    assert explanation.scores[question.units] == pytest.approx(expected, abs=1e-4 * max(1, float(np.abs(expected).max())))
    assert explanation.passes == len(question.units) + 1
    assert np.isnan(np.delete(explanation.scores, question.units)).all()


def test_rollout_here_is_rollout():
    question = question_of("writer")
    scores = explain(question, "rollout").scores
    assert scores == pytest.approx(rollout(question.trace.attention["self"])[-1, question.position], abs=1e-6)


@pytest.mark.parametrize("method", [method for method in METHODS if method != "rollout"])
def test_a_contrast_turned_round_turns_the_evidence_round(method):
    question = question_of("GPT-2", against=True)
    reverse = Question(question.model, question.trace, question.position, question.against, question.token)
    scores, reverse_scores = explain(question, method).scores, explain(reverse, method).scores
    if method in LOOKS:  # of each only what is above 0 is counted
        assert not np.allclose(scores, reverse_scores, equal_nan=True)
        return
    assert scores[question.units] == pytest.approx(-reverse_scores[question.units], abs=1e-3)


def test_a_contrast_is_the_difference_of_two_explanations_where_a_method_is_a_sum():
    question = question_of("writer", against=True)
    singles = [Question(question.model, question.trace, question.position, token) for token in (question.token, question.against)]
    for method in ("leave-one-out", "gradient × input"):
        first, second = (explain(single, method).scores for single in singles)
        assert explain(question, method).scores[question.units] == pytest.approx((first - second)[question.units], abs=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_one_token_has_all_of_it(method):
    trace = model("writer").trace("dog")
    question = Question(model("writer"), trace, len(trace.tokens) - 1, 300)
    explanation = explain(question, method)
    if method in ("leave-one-out", "shap", "sampled shap"):
        full, empty = ends(question)
        assert explanation.total == pytest.approx(full - empty, abs=1e-4)
    assert np.isfinite(explanation.scores[question.units]).all() and len(question.units) == 1


def test_only_what_is_drawn_hangs_on_the_seed():
    question = question_of("GPT-2")
    for method in METHODS:
        rows = spread(question, method, 2)[:, question.units]
        assert np.array_equal(rows[0], rows[1]) == (method not in DRAWN)


@pytest.mark.thorough
@pytest.mark.parametrize("name", grid(["T5", "BART", "translator"], ["T5"]))
def test_what_an_encoder_decoder_has_said_speaks_for_what_comes_next(name):
    """Its start is never taken away, what comes after the position is not asked about, and other targets may be read at once."""
    net = model(name)
    trace = net.trace("The dog ran to the old house", "Le chien court")
    position = len(trace.target) - 2
    question = Question(net, trace, position, int(trace.logits_at(position).argmax()))
    count, begin = len(trace.tokens), next(i for i, token in enumerate(trace.target) if not token.special)
    assert [unit for unit in question.units if unit >= count] == list(range(count + begin, count + position + 1))
    keep = np.ones((3, len(question.units)), bool)
    keep[1, -1] = keep[2, 0] = False
    full, without_token, without_source = question.evidence(keep)
    logits = trace.logits_at(position)
    assert full == pytest.approx(float(log_softmax(logits)[question.token]), abs=1e-3)
    shorter = [token for i, token in enumerate(trace.target[: position + 1]) if i != position]
    expected = net.logits_of([trace.tokens], -1, shorter)[0]
    assert without_token == pytest.approx(float(log_softmax(expected)[question.token]), abs=1e-3)
    assert without_source != pytest.approx(full, abs=1e-6)
    targets = [trace.target[:2], [trace.target[0], trace.target[-1]]]
    batch_logits = net.logits_of([trace.tokens] * 2, -1, targets)
    single_logits = [net.logits_of([trace.tokens], -1, other)[0] for other in targets]
    np.testing.assert_allclose(batch_logits, single_logits, atol=1e-4)
    for method in METHODS:
        scores = explain(question, method).scores
        assert len(scores) == count + len(trace.target) and np.isfinite(scores[question.units]).all()
        assert np.abs(scores[[unit for unit in question.units if unit >= count]]).max() > 0
        assert np.isnan(scores[count + position + 1 :]).all()
