"""The from-scratch encoder-decoder as a model to look into, and the answers that it gives."""

from __future__ import annotations

import itertools
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from models.generation.beams import Answer
from models.scratch.encoder_decoder_model import EncoderDecoderModel
from models.scratch.model_folder import from_folder
from models.scratch.signs import END, START
from models.scratch.write_weights import write_weights
from models.training.corpus import train_tokenizer
from tests.grids import grid
from tests.models.ours import small
from tests.models.scratch.test_encoder_model import write_out

SENTENCES = ["the cat sat on the mat and the dog sat on the cat", "le chat était assis sur le tapis et le chien sur le chat"]
TOKENIZER = train_tokenizer(SENTENCES * 3, 290, (START, END))
SOURCE, TARGET = "the cat sat on the mat", "le chat était assis"
CLOSE = {"atol": 1e-4, "rtol": 1e-4}
VARIANTS = [
    {},
    {"kv_heads": 2},
    {"positions": "sinusoidal"},
    {"positions": "learned", "norm": "layer", "norm_place": "after"},
    {"positions": "alibi", "bias": True},
    {"positions": "relative", "tied": False},
    {"pattern": "window"},
    {"head_transform": True},
    {"score": "additive"},
    {"computed": "performer"},
    {"experts": 3},
]
pieces = st.sampled_from(["the ", "cat", " ", "👩‍👩‍👧", "\n", "é", "\0", START, END, "\ud800"])
anything = st.text(st.characters(codec=None), max_size=40) | st.lists(pieces, max_size=12).map("".join)
few = settings(max_examples=50)


def build_model(**choices) -> EncoderDecoderModel:
    network = small(kind="encoder-decoder", **{"vocabulary": TOKENIZER.get_vocab_size(), "context": 48} | choices)
    return EncoderDecoderModel(network, TOKENIZER, "small translator", "test")


@pytest.fixture(scope="module")
def translator() -> EncoderDecoderModel:
    return build_model()


def its_logits(model: EncoderDecoderModel, source, target) -> np.ndarray:
    """[target position, vocabulary], by the network alone."""
    read, target_ids = (torch.tensor([[token.id for token in tokens]]) for tokens in (source, target))
    with torch.inference_mode():
        return model.network(read, target_ids)[0].numpy()


@few
@given(text=anything, target=anything)
def test_tokens_cover_both_texts_and_only_we_set_the_signs(translator, text, target):
    text, target = text[:11], target[:11]  # which fit, at four bytes a character at most
    trace = translator.trace(text, target)
    assert tuple(translator.tokenize(text)) == trace.tokens
    read = [token for token in trace.tokens if not token.special] + [trace.tokens[-1]]
    assert len(read) == len(trace.tokens) and trace.tokens[-1].text == END
    target_tokens = [trace.target[0], *(token for token in trace.target if not token.special)]
    assert len(target_tokens) == len(trace.target) and trace.target[0].text == START
    for typed_text, tokens in ((text, trace.tokens[:-1]), (target, trace.target[1:])):
        covered, bytes_hold = set(), re.sub("[\ud800-\udfff]", "\ufffd", typed_text)
        for token in tokens:
            covered.update(range(token.start, token.end))
            assert token.fragment or token.text == bytes_hold[token.start : token.end]
        assert covered == set(range(len(typed_text)))
        assert all(a.start <= b.start and a.end <= b.end for a, b in itertools.pairwise(tokens))


@pytest.mark.parametrize("target", ["", TARGET], ids=["begins", "goes on"])
@pytest.mark.parametrize("choices", VARIANTS, ids=str)
def test_a_trace_is_what_the_network_did(choices, target):
    model = build_model(**choices)
    trace = model.trace(SOURCE, target)
    source, target_length, heads = len(trace.tokens), len(trace.target), model.info.heads
    shapes = {"encoder": (source, source), "decoder": (target_length, target_length), "cross": (target_length, source)}
    assert {kind: (len(attention.queries), len(attention.keys)) for kind, attention in trace.attention.items()} == shapes
    for kind, attention in trace.attention.items():
        assert (attention.layers, attention.heads) == (2, heads)
        for layer in range(attention.layers):
            weights = attention[layer]
            assert weights.shape == (heads, *shapes[kind]) and (weights >= 0).all()
            np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
            assert kind != "decoder" or not np.triu(weights, 1).any(), "an answer knows only what was said"
            assert kind != "encoder" or np.triu(weights, 1).max() > 0.01, "the text is known as a whole"
            assert kind != "cross" or weights[:, 0, -1].min() > 0, "and so is what it is looked for in"
    assert (
        trace.read == trace.target
        and trace.hidden["encoder"].shape[1] == source
        and trace.hidden["decoder"].shape[1] == target_length
    )
    np.testing.assert_allclose(trace.logits, its_logits(model, trace.tokens, trace.target), **CLOSE)
    np.testing.assert_allclose(model.logits_of([trace.tokens] * 2, -1, trace.target), trace.logits[[-1, -1]], **CLOSE)


@pytest.mark.parametrize("choices", [{}, {"kv_heads": 2}, {"positions": "relative"}], ids=str)
def test_what_heads_bring_is_what_the_blocks_add(choices):
    """The decoder's stream closes: stream + self-attention + cross-attention + feed-forward = stream after the block."""
    model = build_model(**choices)
    trace = model.trace(SOURCE, TARGET)
    for layer, block in enumerate(model.network.decoder.blocks):
        x = trace.hidden["decoder"][layer]
        for kind in ("decoder", "cross"):
            heads = trace.attention[kind][layer] @ trace.attention[kind].v(layer)
            x = x + np.einsum("hqd,hdm->qm", heads, model.output_weights(kind, layer))
        x = torch.from_numpy(x)
        x = x + block.feedforward(block.feedforward_norm(x))
        np.testing.assert_allclose(x.numpy(), trace.hidden["decoder"][layer + 1], **CLOSE)
    memory = model.network.encoder.final_norm(torch.tensor(trace.hidden["encoder"][-1]))
    keys = model.network.decoder.blocks[0].cross.keys_and_values(memory[None])[0][0]
    shared = model.info.heads // model.info.kv_heads
    np.testing.assert_allclose(trace.attention["cross"].k(0), keys.repeat_interleave(shared, 0).numpy(), **CLOSE)
    assert trace.attention["cross"].rotary(0) is None, "positions of two texts have no distance"


def test_a_word_of_the_answer_changes_nothing_to_its_left_and_nothing_in_the_text(translator):
    first, second = (translator.trace(SOURCE, f"le chat sur le {word} et") for word in ("tapis", "chien"))
    at = next(i for i, (a, b) in enumerate(zip(first.target, second.target, strict=False)) if a.id != b.id)
    assert 0 < at < len(first.target) - 1
    np.testing.assert_allclose(first.hidden["decoder"][:, :at], second.hidden["decoder"][:, :at], **CLOSE)
    np.testing.assert_array_equal(first.hidden["encoder"], second.hidden["encoder"])
    assert np.abs(first.hidden["decoder"][-1, at] - second.hidden["decoder"][-1, at]).max() > 1e-2


def test_a_word_of_the_text_changes_all_of_the_answer(translator):
    first, second = (translator.trace(f"the {word} sat", TARGET).hidden["decoder"] for word in ("cat", "mat"))
    np.testing.assert_array_equal(first[0], second[0])
    assert (np.abs(first[-1] - second[-1]).max(-1) > 1e-3).all()


@few
@given(target=st.lists(st.sampled_from(["le", "chat", "é"]), max_size=6).map(" ".join), top=st.integers(1, 400))
def test_predictions_stand_at_the_end_of_the_answer_the_likeliest_first(translator, target, top):
    trace, predictions = translator.trace(SOURCE, target), translator.predict(SOURCE, target, top)
    shares, count = [prediction.probability for prediction in predictions], translator.info.vocabulary
    assert {prediction.position for prediction in predictions} == {len(trace.target) - 1} and len(predictions) == min(top, count)
    assert shares == sorted(shares, reverse=True) and sum(shares) <= 1 + 1e-9
    assert top < count or sum(shares) == pytest.approx(1)
    logits = torch.from_numpy(its_logits(translator, trace.tokens, trace.target)[-1]).double().softmax(-1)
    assert shares == pytest.approx(logits[[prediction.id for prediction in predictions]].tolist(), abs=1e-5)


@pytest.mark.parametrize("choices", VARIANTS[:6], ids=str)
def test_texts_that_were_typed_are_the_texts_that_were_pasted(choices):
    """Key by key in either box, with letters taken back, as against all at once."""
    typing, fresh = build_model(**choices), build_model(**choices)
    typed_targets = [(SOURCE, TARGET[:end]) for end in range(0, len(TARGET) + 1, 3)] + [(SOURCE, "le"), (SOURCE, "")]
    typed_sources = [(SOURCE[:end], TARGET) for end in range(0, len(SOURCE) + 1, 3)]
    for text, target in typed_targets + typed_sources + typed_targets[:2]:
        fresh.forget()
        trace, reread = typing.trace(text, target), fresh.trace(text, target)
        assert (trace.tokens, trace.target, trace.text) == (reread.tokens, reread.target, text)
        for kind in trace.hidden:
            np.testing.assert_array_equal(trace.hidden[kind], reread.hidden[kind])
        for kind in trace.attention:
            np.testing.assert_array_equal(trace.attention[kind][1], reread.attention[kind][1])


def test_a_text_is_encoded_once_however_long_the_answer_grows(monkeypatch):
    model, times = build_model(), []
    monkeypatch.setattr(model.network, "encode", lambda read, encode=model.network.encode: times.append(1) or encode(read))
    for target in ("", "le", "le chat", "le"):
        model.trace(SOURCE, target)
    model.translate(SOURCE)
    assert len(times) == 1
    model.trace(SOURCE + ".")
    assert len(times) == 2


@pytest.mark.parametrize("at_most", [None, 10])
def test_what_is_too_long_is_cut_from_the_left_on_both_sides(at_most):
    model, text, target = build_model(), "the cat sat on " * 40 + "the mat", "le chat était " * 40 + "assis"
    model.at_most = at_most
    trace = model.trace(text, target)
    assert len(trace.tokens) == len(trace.target) == (at_most or 48)
    assert trace.tokens[-1].text == END and trace.tokens[-2].end == len(text) and trace.cut == trace.tokens[0].start > 0
    assert trace.target[0].text == START and trace.target[-1].end == len(target) and trace.target[1].start > 0
    short = model.trace(text[trace.cut :], target[trace.target[1].start :])
    assert short.cut == 0
    np.testing.assert_allclose(trace.logits, short.logits, **CLOSE)
    only = model.trace("the cat", target)
    assert only.cut == 0, "it is the text's"


def test_no_text_is_an_end_alone_and_no_answer_a_start(translator):
    trace = translator.trace("")
    assert ([token.text for token in trace.tokens], [token.text for token in trace.target], trace.cut) == ([END], [START], 0)
    np.testing.assert_array_equal(trace.attention["cross"][0], np.ones((4, 1, 1)))
    assert len(translator.predict("", top=3)) == 3
    assert translator.translate("")


def test_what_is_no_edit_is_refused_with_a_sentence(translator):
    with pytest.raises(TypeError, match=r"values of models\.edits"):
        translator.trace(SOURCE, TARGET, edits=[1])


def test_info_tells_the_truth(translator):
    info = translator.info
    assert (info.kind, info.mask, info.layers, info.decoder_layers, info.decoder_heads) == ("encoder-decoder", "", 2, 2, 4)
    assert info.parameters == sum(parameter.numel() for parameter in translator.network.parameters()), (
        "the shared embedding counts once"
    )
    assert info.vocabulary == TOKENIZER.get_vocab_size() == len(translator.embedding())
    assert [translator.is_special(TOKENIZER.token_to_id(token)) for token in (START, END, "a")] == [True, True, False]


@pytest.mark.parametrize("choices", [{}, {"kv_heads": 1}, {"positions": "relative"}], ids=str)
def test_slopes_are_autograd_through_attention_written_out(choices, monkeypatch):
    model = build_model(**choices)
    trace = model.trace(SOURCE, TARGET)
    place, token, weight_tensors = len(trace.target) - 2, 7, []
    gradients = model.gradients(trace, place, token)
    assert gradients.keys() == trace.attention.keys()
    monkeypatch.setattr("models.scratch.transformer.attend", write_out(weight_tensors))
    with torch.enable_grad():
        read, target_ids = (torch.tensor([[token.id for token in tokens]]) for tokens in (trace.tokens, trace.target))
        slopes = torch.autograd.grad(model.network(read, target_ids)[0, place, token], weight_tensors)
    # The encoder's two layers, then self and cross of each of the decoder's.
    for (kind, layer), weights, slope in zip(
        [("encoder", 0), ("encoder", 1), ("decoder", 0), ("cross", 0), ("decoder", 1), ("cross", 1)],
        weight_tensors,
        slopes,
        strict=True,
    ):
        np.testing.assert_allclose(trace.attention[kind][layer], weights[0].detach(), atol=1e-5)
        assert slope.abs().max() > 1e-4, "a slope of nothing would agree with anything"
        np.testing.assert_allclose(
            gradients[kind][layer] * trace.attention[kind][layer], (slope * weights)[0].detach(), err_msg=kind, **CLOSE
        )
    with pytest.raises(ValueError, match=f"no position {len(trace.target)}"):
        model.gradients(trace, len(trace.target), token)


@pytest.mark.parametrize("choices", grid(VARIANTS[:9], VARIANTS[:3]), ids=str)
def test_a_folder_gives_the_model_back(choices, tmp_path):
    """The weights are written as float16, so a network whose weights fit in those comes back as it was."""
    model = build_model(**choices)
    with torch.no_grad():
        for parameter in model.network.parameters():
            parameter.copy_(parameter.half())
    write_weights(model.network, model.network.config, tmp_path)
    TOKENIZER.save(str(tmp_path / "tokenizer.json"))
    back = from_folder(tmp_path)
    assert isinstance(back, EncoderDecoderModel) and back.info.parameters == model.info.parameters
    ours, its = model.trace(SOURCE, TARGET), back.trace(SOURCE, TARGET)
    assert (ours.tokens, ours.target) == (its.tokens, its.target)
    np.testing.assert_array_equal(ours.logits, its.logits)
    assert model.translate(SOURCE) == back.translate(SOURCE)


def likely_end(model: EncoderDecoderModel) -> EncoderDecoderModel:
    """A random network hardly ever comes to an end; one whose end has a longer vector does for some seeds."""
    with torch.no_grad():
        model.network.encoder.embedding.weight[TOKENIZER.token_to_id(END)] *= 2
    return model


@pytest.mark.parametrize("text", [SOURCE, "the dog", "", "the cat sat on " * 40])
def test_greedy_says_what_is_likeliest_each_time(text):
    model = likely_end(build_model())
    (answer,) = model.translate(text, width=1)
    read = model.trace(text).tokens
    known, total = [TOKENIZER.token_to_id(START)], 0.0
    for id in answer.ids:
        with torch.inference_mode():
            row = model.network(torch.tensor([[token.id for token in read]]), torch.tensor([known]))[0, -1].double()
        assert id == row.argmax()
        total += row.log_softmax(-1)[id].item()
        known.append(id)
    assert answer.score == pytest.approx(total, abs=1e-3)
    assert answer.ended == (known[-1] == TOKENIZER.token_to_id(END)) and len(known) <= model.room


@pytest.mark.parametrize("width", [2, 4])
@pytest.mark.parametrize("seed", range(3))
def test_a_beams_answers_are_worth_what_they_say(seed, width):
    model = likely_end(build_model(seed=seed))
    answers, end = model.translate(SOURCE, width), TOKENIZER.token_to_id(END)
    assert 0 < len(answers) <= width and len({answer.ids for answer in answers}) == len(answers)
    for answer in answers:
        target = [TOKENIZER.token_to_id(START), *answer.ids]
        with torch.inference_mode():
            rows = model.network(torch.tensor([[token.id for token in model.tokenize(SOURCE)]]), torch.tensor([target[:-1]]))[0]
        total = rows.double().log_softmax(-1)[range(len(answer.ids)), list(answer.ids)].sum().item()
        assert answer.score == pytest.approx(total, abs=1e-3)
        assert end not in answer.ids[:-1] and answer.ended == (answer.ids[-1] == end) and len(target) <= model.room
        assert answer.text == model.text_of(answer) == TOKENIZER.decode([id for id in answer.ids if id != end])
        assert not {START, END} & set(answer.text.split())
    worth = [answer.score / ((5 + len(answer.ids)) / 6) ** 0.6 for answer in answers]
    assert worth == sorted(worth, reverse=True)
    assert model.translate(SOURCE, width) == answers


def test_an_answer_can_be_written_into_its_box(translator):
    """The text of an answer has no special tokens, and is read as the same tokens again."""
    ids = TOKENIZER.encode(TARGET).ids
    answer = Answer((*ids, TOKENIZER.token_to_id(END)), 0.0, True)
    assert translator.text_of(answer) == TARGET
    assert [token.id for token in translator.trace(SOURCE, TARGET).target[1:]] == ids


def test_a_beam_of_no_width_is_a_sentence(translator):
    with pytest.raises(ValueError, match="at least 1 wide"):
        translator.translate(SOURCE, 0)


def test_threads_share_a_model(translator):
    texts = [(f"the cat sat on the {word}", target) for word in ("mat", "dog", "", "on on") for target in ("", "le chat")]
    alone = [translator.trace(*pair).logits for pair in texts]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            translator.forget()
            for ours, serial in zip(pool.map(lambda pair: translator.trace(*pair).logits, texts), alone, strict=True):
                np.testing.assert_allclose(ours, serial, atol=1e-4)
