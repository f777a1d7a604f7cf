"""Every architecture of transformers through our recorder, held to a plain eager forward of the same weights."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import processors

import models
from analysis import head_scores, prediction_entropy, surprise
from models.attention.recorder import recording
from models.errors import ModelError
from models.huggingface.model import HuggingFaceModel
from tests.models.networks import NETWORKS, network, tokenizer

TEXT = "The cat sat on the mat, and the dog sat on the cat."
DECODERS, ENCODERS, BOTH = (
    [name for name, (kind, *_) in NETWORKS.items() if kind == group] for group in ("decoder", "encoder", "encoder-decoder")
)
PAIRS = [name for name in ENCODERS if name != "XLNet"]
SHUT = ("BLOOM", "GPT-J", "Falcon", "MPT", "GPT-Neo", "XGLM", "MPNet", "DeBERTa-v2", "XLNet")  # they show no queries and keys
ANEW = (*SHUT, "DeepSeek-V3")  # each text is read from its start


def predicts(name: str) -> bool:
    return NETWORKS[name][1] not in ("BertModel", "XLNetModel")


def fresh(name: str) -> HuggingFaceModel:
    kind = NETWORKS[name][0]
    return HuggingFaceModel(network(name), tokenizer(kind), kind, predicts(name), name)


model, twin = cache(fresh), cache(fresh)


def eager(name: str, trace):
    """What transformers itself says: logits, attention and hidden states by kind, of the tokens of a trace."""
    tokens = torch.tensor([[token.id for token in trace.tokens]])
    inputs = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
    if NETWORKS[name][0] == "encoder-decoder":
        inputs["decoder_input_ids"] = torch.tensor([[token.id for token in trace.target]])
    if any(token.segment for token in trace.tokens) and getattr(network(name).config, "type_vocab_size", 0) > 1:
        inputs["token_type_ids"] = torch.tensor([[token.segment for token in trace.tokens]])
    with torch.inference_mode():
        out = network(name, "eager")(**inputs, output_attentions=True, output_hidden_states=True, return_dict=True)
    if NETWORKS[name][0] == "encoder-decoder":
        attention = {"encoder": out.encoder_attentions, "decoder": out.decoder_attentions, "cross": out.cross_attentions}
        return out, attention, {"encoder": out.encoder_hidden_states, "decoder": out.decoder_hidden_states}
    return out, {"self": out.attentions}, {"self": out.hidden_states}


def agrees(name: str, trace) -> None:
    out, attention, hidden = eager(name, trace)
    assert trace.attention.keys() == attention.keys()
    for kind, layers in attention.items():
        ours = trace.attention[kind]
        assert ours.layers == len(layers)
        for layer, reference in enumerate(layers):
            np.testing.assert_allclose(ours[layer], reference[0], atol=1e-5)
            np.testing.assert_allclose(ours[layer].sum(-1), reference[0].sum(-1), atol=1e-5)  # below 1 where there are sinks
    for stack, states in hidden.items():
        assert len(trace.hidden[stack]) == len(states)
        for ours, reference in zip(
            trace.hidden[stack][:-1], states, strict=False
        ):  # the reference's last is after the final norm
            reference = reference.flatten(0, 1)  # a batch of one, wherever it stands
            np.testing.assert_allclose(ours, reference, atol=1e-4, rtol=1e-4)
    if predicts(name):
        np.testing.assert_allclose(trace.logits, out.logits[0], atol=1e-4)
        np.testing.assert_allclose(trace.logits_at(-1), out.logits[0, -1], atol=1e-4)
    else:
        assert trace.logits is None


@pytest.mark.parametrize("name", NETWORKS)
def test_agrees_with_eager(name):
    agrees(name, model(name).trace(TEXT, "Once upon a time" if name in BOTH else ""))


@pytest.mark.parametrize("name", PAIRS)
def test_agrees_with_eager_on_a_pair(name):
    trace = model(name).trace("The cat sat.", "Once upon a time")
    assert {token.segment for token in trace.tokens} == {0, 1}
    agrees(name, trace)


@pytest.mark.parametrize("name", NETWORKS)
def test_facts(name):
    kind, _, _, choices = NETWORKS[name]
    info = model(name).info
    assert (info.kind, info.d_model, info.heads, info.predicts) == (kind, 64, 4, predicts(name))
    assert info.layers == (4 if name == "GPT-Neo" else 3) and info.decoder_layers == (2 if kind == "encoder-decoder" else 0)
    assert info.kv_heads == choices.get("num_key_value_heads", 4)
    assert info.parameters == sum(parameter.numel() for parameter in network(name).parameters())
    assert info.queries or any("queries" in note for note in info.notes)
    assert info.queries == (name not in SHUT) and (name not in DECODERS or model(name).followed.reusable == (name not in ANEW))


@pytest.mark.parametrize("name", [name for name in NETWORKS if name not in SHUT])
def test_weights_are_what_the_block_does_with_queries_keys_and_values(name):
    """q·k gives the scores (unless a position bias or a soft cap comes on top), and the shapes are one a query head."""
    trace = model(name).trace(TEXT, "Once upon" if name in BOTH else "")
    for attention in trace.attention.values():
        q, k, v, scores = (getattr(attention, part)(0) for part in ("q", "k", "v", "scores"))
        assert q.shape[:2] == (attention.heads, len(attention.queries))
        assert k.shape[:2] == v.shape[:2] == (attention.heads, len(attention.keys))
        assert q.shape[2] == k.shape[2]
        assert scores.shape == attention[0].shape
        visible = (attention[0] > 1e-6).all(-1)  # where no key is masked, the softmax of the scores is the row, up to a sink
        raised = np.exp(scores - scores.max(-1, keepdims=True))
        shares = attention[0] / attention[0].sum(-1, keepdims=True)
        np.testing.assert_allclose((raised / raised.sum(-1, keepdims=True))[visible], shares[visible], atol=1e-5)


@pytest.mark.parametrize("name", ["GPT-2", "T5", "Gemma 2, soft-capped", "GPT-OSS, sinks", "GPT-J"])
def test_the_formula_on_screen_is_the_one_that_gives_the_weights(name):
    """Computed from queries and keys as the formula says, where no key is masked: the last row of a causal or of any text."""
    attention = model(name).trace(TEXT[:12], "Once" if name in BOTH else "").attention["encoder" if name in BOTH else "self"]
    formula = attention.formula(0)
    if name == "GPT-J":
        assert formula == "softmax of its scores"
        return
    q, k = attention.q(0), attention.k(0)
    scores = q[:, -1:] @ k.transpose(0, 2, 1)
    scores = scores / np.sqrt(q.shape[-1]) if "/√d" in formula else scores
    if "tanh" in formula:
        scores = 2.0 * np.tanh(scores / 2.0)
    plain = "bias" not in formula and "sink" not in formula
    raised = np.exp(scores - scores.max(-1, keepdims=True))
    weights = attention[0][:, -1:]
    same = np.allclose(raised / raised.sum(-1, keepdims=True), weights, atol=1e-4)
    all_seen = (weights > 0).all()
    assert same == (plain and all_seen) or not all_seen
    assert ("bias" in formula) == (name == "T5") and ("sink" in formula) == ("sinks" in name)


def test_weights_that_are_no_numbers_are_refused():
    built = network("GPT-2")
    built.transformer.h[1].mlp.c_fc.weight[3, 3] = float("nan")
    with pytest.raises(ModelError, match="not numbers"):
        HuggingFaceModel(built, tokenizer("decoder"), "decoder", True, "broken")


def test_a_token_without_a_vector_is_a_sentence():
    tokens = tokenizer("decoder")
    tokens.add_tokens(["zebra"])
    small = HuggingFaceModel(network("GPT-2"), tokens, "decoder", True, "small")
    assert small.predict("a horse")
    with pytest.raises(ValueError, match="no vector for “zebra”"):
        small.predict("a zebra")


def test_queries_that_cannot_be_had_are_a_sentence():
    with pytest.raises(ValueError, match="queries"):
        model("BLOOM").trace(TEXT).attention["self"].q(0)


@pytest.mark.parametrize("name", [name for name in ENCODERS + DECODERS if name not in SHUT])
def test_padding_is_respected(name):
    """A padded row of a batch is read as it is alone: same weights, none on the padding."""
    ours, built = model(name), network(name, "headlight")
    ids = [token.id for token in ours.trace(TEXT[:20]).tokens]
    padding = 6
    rows = [([0] * padding + ids) if name in DECODERS else (ids + [0] * padding), list(range(5, 5 + len(ids) + padding))]
    mask = torch.ones(2, len(ids) + padding, dtype=torch.long)
    real = slice(padding, None) if name in DECODERS else slice(0, len(ids))
    mask[0] = 0
    mask[0, real] = 1
    with torch.inference_mode(), recording() as record:
        built(input_ids=torch.tensor(rows), attention_mask=mask)
    reference = network(name, "eager")(input_ids=torch.tensor(rows), attention_mask=mask, output_attentions=True).attentions
    assert len(record.calls) == len(reference)
    for call, expected in zip(record.calls, reference, strict=True):
        weights = call.weights()[:, real]
        np.testing.assert_allclose(weights, expected[0][:, real], atol=1e-5)
        outside = torch.ones(len(ids) + padding, dtype=torch.bool)
        outside[real] = False
        assert weights[..., outside].abs().max() == 0


@pytest.mark.parametrize("name", ["Mistral, sliding window", "Gemma 2, soft-capped", "Gemma 3", "GPT-OSS, sinks", "ModernBERT"])
def test_windows_are_respected(name):
    """Outside the window nothing is seen; and there is a layer with a window, or this would hold of any model."""
    trace = model(name).trace(TEXT * 2)
    attention = trace.attention["self"]
    n = len(trace.tokens)
    distance = np.abs(np.arange(n)[:, None] - np.arange(n)[None, :])
    blind = [bool((attention[layer][:, distance > 8] == 0).all()) for layer in range(attention.layers)]
    assert any(blind)


@settings(max_examples=15, deadline=None)
@given(texts=st.lists(st.text(st.sampled_from("the cat sat on ,.é\n"), max_size=40), min_size=2, max_size=5))
@pytest.mark.parametrize("name", [name for name in DECODERS if name not in ANEW])
def test_reading_on_gives_what_reading_anew_gives(name, texts):
    ours, reread = model(name), twin(name)
    for text in texts:
        trace = ours.trace(text)
        reread.forget()
        again = reread.trace(text)
        assert trace.tokens == again.tokens
        np.testing.assert_allclose(trace.hidden["self"], again.hidden["self"], atol=1e-4, rtol=1e-4)
        np.testing.assert_allclose(trace.logits, again.logits, atol=1e-4)
        for layer in range(trace.attention["self"].layers):
            np.testing.assert_allclose(trace.attention["self"][layer], again.attention["self"][layer], atol=1e-5)
            np.testing.assert_allclose(trace.attention["self"].scores(layer), again.attention["self"].scores(layer), atol=1e-4)


def test_most_decoders_read_on():
    """A decoder behind the attention interface reads only what is new."""
    assert {"GPT-2", "Llama, grouped-query", "Mistral, sliding window", "Gemma 3", "GPT-OSS, sinks"} <= {
        name for name in DECODERS if model(name).followed.reusable
    }


@pytest.mark.thorough
def test_two_models_in_eight_threads_answer_as_one_after_the_other():
    names = ["Gemma 2, soft-capped", "BLOOM"]
    work = [(name, TEXT[i : i + 20] + str(i)) for i in range(25) for name in names]
    alone = {task: fresh(task[0]).trace(task[1]) for task in work}
    shared = {name: fresh(name) for name in names}
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda task: shared[task[0]].trace(task[1]), work * 2))
    for task, trace in zip(work * 2, together, strict=True):
        expected = alone[task]
        assert trace.tokens == expected.tokens
        np.testing.assert_allclose(trace.logits, expected.logits, atol=1e-5)
        for layer in range(3):
            np.testing.assert_allclose(trace.attention["self"][layer], expected.attention["self"][layer], atol=1e-6)


@pytest.mark.parametrize("name", ["GPT-2", "Llama, grouped-query", "BERT", "T5", "BLOOM"])
def test_recording_changes_no_logit(name):
    built = network(name)
    ours = HuggingFaceModel(built, tokenizer(NETWORKS[name][0]), NETWORKS[name][0], True, name)
    trace = ours.trace(TEXT, "Once" if name in BOTH else "")
    inputs = {"input_ids": torch.tensor([[token.id for token in trace.tokens]])}
    if name in BOTH:
        inputs["decoder_input_ids"] = torch.tensor([[token.id for token in trace.target]])
    with torch.inference_mode():
        plain = built(**inputs).logits
        with recording():
            recorded = built(**inputs).logits
    assert torch.equal(plain, recorded)


@pytest.mark.parametrize("name", ["BERT", "ModernBERT", "DeBERTa-v2"])
def test_an_encoder_predicts_at_every_mask(name):
    filler = model(name)
    text = "The cat <mask> on the <mask>."
    trace = filler.trace(text)
    masks = [i for i, token in enumerate(trace.tokens) if token.id == filler.vocabulary.tokenizer.mask_token_id]
    predictions = filler.predict(text, top=4)
    assert len(masks) == 2 and [prediction.position for prediction in predictions] == [masks[0]] * 4 + [masks[1]] * 4
    out, _, _ = eager(name, trace)
    expected = out.logits[0, masks[0]].softmax(-1).topk(4)
    assert [prediction.id for prediction in predictions[:4]] == expected.indices.tolist()
    np.testing.assert_allclose([prediction.probability for prediction in predictions[:4]], expected.values, rtol=1e-4)
    assert filler.predict("No gap here.") == []


def test_a_model_without_a_head_says_so():
    with pytest.raises(ValueError, match="no language-model head"):
        model("BERT without a head").predict(TEXT)


def test_the_source_is_encoded_once():
    """While the target is typed, the encoder's part of the trace is the very same."""
    bart = fresh("BART")
    first, second = bart.trace(TEXT, "Once"), bart.trace(TEXT, "Once upon")
    assert np.shares_memory(first.hidden["encoder"], second.hidden["encoder"])
    agrees("BART", second)


def test_the_target_begins_with_the_start_token():
    trace = fresh("T5").trace(TEXT)
    assert [token.id for token in trace.target] == [0] and trace.logits.shape == (1, 300)
    assert trace.read == trace.target


@pytest.mark.parametrize(
    ("template", "start", "expected"),
    [
        ("$A </s>", 2, [2]),  # Marian, T5
        ("<s> $A </s>", 2, [2, 1]),  # BART, M2M100: the start token, then what the tokenizer puts in front
        ("$A </s> <mask>", None, [4]),  # mBART: no start is named, the language at the end starts the decoder
    ],
)
def test_the_decoder_is_given_what_training_gave_it(template, start, expected):
    """The labels shifted to the right, without what ends them."""
    tokens, built = tokenizer("encoder-decoder"), network("BART")
    special = [("<s>", 1), ("</s>", 2), ("<mask>", 4)]
    tokens.backend_tokenizer.post_processor = processors.TemplateProcessing(single=template, special_tokens=special)
    tokens.add_special_tokens({"mask_token": "<mask>"})
    built.config.decoder_start_token_id = start
    bart = HuggingFaceModel(built, tokens, "encoder-decoder", True, "BART")
    assert [token.id for token in bart.trace(TEXT, "").target] == expected
    assert [token.id for token in bart.trace(TEXT, "   ").target][: len(expected)] == expected
    labels = tokens(text_target="the cat")["input_ids"]
    body = [id for id in labels if id > 4]
    assert [token.id for token in bart.trace(TEXT, "the cat").target] == [*expected, *body]


def test_what_does_not_fit_is_left_out_and_said():
    bert = fresh("BERT")
    long = "cat " * 900
    trace = bert.trace(long)
    assert len(trace.tokens) == bert.info.context == 512
    assert trace.tokens[0].special and trace.tokens[-1].special
    assert 0 < trace.cut < len(long)
    assert long[trace.tokens[1].start : trace.tokens[1].end].strip() == trace.tokens[1].text.strip()


def test_an_empty_text_is_read():
    for name in NETWORKS:
        trace = model(name).trace("")
        assert trace.tokens
        assert trace.logits is None or np.isfinite(trace.logits).all()


@pytest.mark.parametrize("name", DECODERS)
def test_what_is_computed_of_a_trace_works(name):
    trace = model(name).trace(TEXT)
    assert np.isfinite(surprise(trace)[1:]).all()
    assert 0 <= prediction_entropy(trace.logits_at(-1)) <= np.log2(300) + 1e-6


@pytest.mark.parametrize("name", ["GPT-2", "BERT", "T5", "BLOOM"])
def test_heads_are_scored(name):
    subject = model(name)
    scores = head_scores(subject)
    assert len(scores) == subject.info.layers * subject.info.heads
    assert scores[["previous", "current", "first"]].to_numpy().min() >= 0


STORIES = Path(__file__).parents[4] / "shared" / "models" / "stories260k"


@pytest.mark.skipif(not STORIES.is_dir(), reason="the real small Llama is not here")
def test_a_real_llama_from_a_folder_tells_a_story():
    llama = models.load(str(STORIES))
    assert (llama.info.kind, llama.info.heads, llama.info.kv_heads, llama.info.vocabulary) == ("decoder", 8, 4, 512)
    text = "Once upon a time"
    for _ in range(20):
        text += llama.predict(text, top=1)[0].text
    assert text.startswith("Once upon a time, there was a little girl named Lily.")
    trace = llama.trace(text)
    for layer in range(5):
        np.testing.assert_allclose(trace.attention["self"][layer].sum(-1), 1, atol=1e-5)
        assert np.triu(trace.attention["self"][layer], 1).max() == 0
