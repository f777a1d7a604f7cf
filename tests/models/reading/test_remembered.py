"""Memory between readings never outlives the network's condition, is bounded, and belongs to its reader."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

from models.attention.recorded_call import Call
from models.language_model import LanguageModel
from models.reading.condition import Condition
from models.reading.prefix import Recent, reading_for
from models.scratch.decoder_model import DecoderModel
from models.scratch.encoder_decoder_model import EncoderDecoderModel
from models.scratch.signs import END, START
from models.tokens import Token
from models.trace import Attention, Trace
from models.training.corpus import train_tokenizer
from tests.grids import grid
from tests.models.networks import network, tokenizer
from tests.models.ours import small

TEXT, TARGET = "the cat sat on the mat", "on the mat"
TOKENIZER = train_tokenizer(["the cat sat on the mat and the dog sat on the cat"] * 3, 280, (START, END))


def ours(kind: str) -> LanguageModel:
    built = small(kind=kind, vocabulary=TOKENIZER.get_vocab_size(), dropout=0.2)
    return {"decoder": DecoderModel, "encoder-decoder": EncoderDecoderModel}[kind](built, TOKENIZER, "small", "test")


def others(name: str, kind: str) -> LanguageModel:
    from models.huggingface.model import HuggingFaceModel

    return HuggingFaceModel(network(name), tokenizer(kind), kind, True, name)


MODELS = {
    "our decoder": lambda: ours("decoder"),
    "our translator": lambda: ours("encoder-decoder"),
    "GPT-2": lambda: others("GPT-2", "decoder"),
    "Llama": lambda: others("Llama, grouped-query", "decoder"),
    "BART": lambda: others("BART", "encoder-decoder"),
}


def target(model: LanguageModel) -> str:
    return TARGET if model.info.kind == "encoder-decoder" else ""


def plain(model: LanguageModel) -> np.ndarray:
    """Return the network's own answer to the whole text at once: logits [position, vocabulary]."""
    trace = model.trace(TEXT, target(model), remember=False)
    read, target_ids = (torch.tensor([[token.id for token in tokens]]) for tokens in (trace.tokens, trace.target))
    with torch.inference_mode():
        if isinstance(model, DecoderModel):
            return model.network(read)[0].float().numpy()
        if isinstance(model, EncoderDecoderModel):
            return model.network(read, target_ids)[0].float().numpy()
        inputs = {"decoder_input_ids": target_ids} if trace.target else {}
        return model.network(input_ids=read, use_cache=False, return_dict=True, **inputs).logits[0].float().numpy()


def attends(model: LanguageModel) -> nn.Module:
    """Some linear map inside the first block that reads the text."""
    maps = [module for module in model.network.modules() if type(module).__name__ in ("Linear", "Conv1D")]
    return maps[2]


def first_half_off(module, args, out):
    """Switch off a part of a head: a slice of its output is 0."""
    out = out.clone()
    out[..., : out.shape[-1] // 2] = 0
    return out


def agree(model: LanguageModel) -> np.ndarray:
    """Compare a reading by the model, which may use its memory, with the network itself; return the logits."""
    half = model.trace(TEXT[:9], target(model)).logits
    logits = model.trace(TEXT, target(model)).logits
    np.testing.assert_allclose(logits, plain(model), atol=1e-3, rtol=1e-3)
    assert half is not None
    return logits


def edited(model: LanguageModel) -> Callable[[], None]:
    with torch.no_grad():
        attends(model).weight.mul_(-1)
    return lambda: attends(model).weight.requires_grad_(False).mul_(-1)


def put_in_its_place(model: LanguageModel) -> Callable[[], None]:
    module = attends(model)
    old, module.weight = module.weight, nn.Parameter(-module.weight.detach().clone(), requires_grad=False)
    return lambda: setattr(module, "weight", old)


def another_module(model: LanguageModel) -> Callable[[], None]:
    name, old = next((name, module) for name, module in model.network.named_modules() if module is attends(model))
    parent = model.network.get_submodule(name.rpartition(".")[0])
    setattr(parent, name.rpartition(".")[2], nn.Sequential(old, nn.Hardtanh(0, 0.01)))
    return lambda: setattr(parent, name.rpartition(".")[2], old)


def hooked(model: LanguageModel) -> Callable[[], None]:
    return attends(model).register_forward_hook(first_half_off).remove


def hooked_before(model: LanguageModel) -> Callable[[], None]:
    return attends(model).register_forward_pre_hook(lambda module, args: (args[0] * 0.5,)).remove


def another_forward(model: LanguageModel) -> Callable[[], None]:
    module = attends(model)
    module.forward = lambda x, forward=module.forward: -forward(x)
    return lambda: delattr(module, "forward")


CHANGES = [edited, put_in_its_place, another_module, hooked, hooked_before, another_forward]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change_of: change_of.__name__)
@pytest.mark.parametrize("name", MODELS)
def test_a_changed_network_answers_as_it_is_and_changed_back_as_it_was(name, change):
    model = MODELS[name]()
    before = agree(model)
    back = change(model)
    assert np.abs(agree(model) - before).max() > 1e-2, "the change is one that shows"
    back()
    np.testing.assert_allclose(agree(model), before, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("name", MODELS)
def test_a_network_of_another_dtype_is_read_with_that(name):
    model = MODELS[name]()
    before = agree(model)
    model.network.double()
    np.testing.assert_allclose(agree(model), before, atol=1e-3, rtol=1e-3)
    assert np.isfinite(agree(model)).all() and model.trace(TEXT, target(model)).logits.dtype == np.float32
    model.network.bfloat16()
    rounded = model.trace(TEXT, target(model)).logits
    assert np.abs(rounded - before).max() > 1e-4
    model.network.float()
    assert np.abs(agree(model) - before).max() > 1e-4, "the weights stay rounded, and what was remembered is gone"


@pytest.mark.parametrize("name", ["our decoder", "our translator", "GPT-2"])
def test_in_training_mode_dropout_is_seen_and_leaves_nothing_behind(name):
    model = MODELS[name]()
    before = agree(model)
    model.network.train()
    logits, other = (model.trace(TEXT, target(model)).logits for _ in range(2))
    assert np.abs(logits - other).max() > 1e-3
    model.network.eval()
    np.testing.assert_allclose(agree(model), before, atol=1e-3, rtol=1e-3)


def test_a_hook_may_change_its_mind():
    model, strength = MODELS["our decoder"](), [1.0]
    attends(model).register_forward_hook(lambda module, args, out: out * strength[0])
    before = agree(model)
    strength[0] = -1.0
    assert np.abs(agree(model) - before).max() > 1e-2


@pytest.mark.parametrize("name", MODELS)
def test_what_torch_does_not_count_is_told_by_forget(name):
    model = MODELS[name]()
    agree(model)
    attends(model).weight.data.mul_(-1)
    model.forget()
    agree(model)


@pytest.mark.parametrize("name", ["our decoder", "our translator", "Llama", "BART"])
def test_an_unchanged_network_is_read_on_from_and_only_if_it_is_to_be(name, monkeypatch):
    model = MODELS[name]()
    model.trace(TEXT, target(model))
    stamp, ids = model.recent.now(), tuple(token.id for token in model.trace(TEXT, target(model)).tokens)
    assert model.recent.get(stamp, ids) is not None
    model.forget()
    model.trace(TEXT, target(model), remember=False)
    assert model.recent.get(stamp, ids) is None
    assert model.recent.now(remember=False) is None


def test_a_condition_is_a_number_that_stays_until_something_changes():
    layers = nn.Sequential(nn.Linear(4, 4), nn.Dropout())
    layers.eval()
    condition = Condition(layers)
    first = condition.now()
    assert condition.now() == first
    with torch.no_grad():
        layers[0].bias[1] = 3.0
    second = condition.now()
    assert second != first and condition.now() == second
    layers.double().float()  # the same numbers, perhaps even at the same place
    assert condition.now() != second
    layers.train()
    assert condition.now() is None
    layers.eval()
    with torch.autocast("cpu"):
        assert condition.now() is None
    handle = nn.modules.module.register_module_forward_hook(lambda *_: None)
    assert condition.now() is None
    handle.remove()
    assert condition.now() is not None


def token(id: int) -> Token:
    return Token(id, str(id), 0, 0)


def trace(ids: tuple[int, ...], size: int = 1000) -> Trace:
    return Trace("", [token(id) for id in ids], {}, {"self": np.zeros(size, dtype=np.uint8)})


def typed(recent: Recent, who: str, ids: tuple[int, ...], size: int = 1000) -> int:
    """Read as `who`; how many tokens were known."""
    with reading_for(who):
        stamp = recent.now()
        _, shared = recent.longest_shared(stamp, ids)
        recent.keep(stamp, ids, trace(ids, size))
    return shared


def test_a_visitors_beginning_outlives_forty_others_who_type():
    recent = Recent(nn.Linear(1, 1).eval(), bytes=45_000)
    typed(recent, "me", tuple(range(30)))
    for length in range(1, 30):
        for other in range(40):
            typed(recent, f"{other}", (100 + other, *(length * 1000 + i for i in range(length))))
    assert typed(recent, "me", (*range(30), 7)) == 30


def test_bytes_are_bounded_and_the_newest_of_each_reader_stays_longest():
    recent = Recent(nn.Linear(1, 1).eval(), bytes=10_000)
    for start in range(20):
        typed(recent, "one", (start, 1, 2))
    for other in range(5):
        typed(recent, f"{other}", (50 + other, 1))
    assert recent._entries.size <= 10_000
    assert typed(recent, "one", (19, 1, 2, 3)) == 3
    assert all(typed(recent, f"{other}", (50 + other, 1, 2)) == 2 for other in range(5))
    typed(recent, "large", (99, 98), size=50_000)
    assert typed(recent, "large", (99, 98, 97), size=60_000) == 2, "what somebody typed last is there, however large"
    assert typed(recent, "one", (19, 1)) == 0 and recent._entries.owners == ["one"]


def test_a_text_that_grows_is_kept_once_and_a_shorter_one_is_found_in_it():
    recent = Recent(nn.Linear(1, 1).eval())
    for length in range(1, 20):
        assert typed(recent, "one", tuple(range(length))) == length - 1
    assert recent._entries.owners == ["one"] and recent._entries.size == 1000
    assert typed(recent, "one", (0, 1, 2)) == 3 and typed(recent, "one", tuple(range(30))) == 19
    assert typed(recent, "two", (0, 1, 5)) == 2, "what one has read serves another"


def test_the_bytes_of_a_trace_can_be_asked_for_while_it_is_drawn():
    """One thread computes weights, another asks what they take: 19 in 4,547 texts of a full room failed so."""
    tokens = [token(i) for i in range(16)]
    for _ in range(30):
        calls = [Call(torch.randn(2, 16, 4), torch.randn(2, 16, 4), torch.randn(2, 16, 4), causal=True) for _ in range(60)]
        attention, failed = Attention(tokens, tokens, calls), []

        def ask(attention=attention, failed=failed) -> None:
            try:
                while len(attention.beginning(16)) < 60:
                    assert attention.bytes >= 60 * 3 * 2 * 16 * 4 * 4
            except RuntimeError as error:
                failed.append(error)

        asking = threading.Thread(target=ask)
        asking.start()
        for layer in range(60):
            attention[layer]
        asking.join()
        assert not failed
    assert attention.bytes == 60 * (3 * 2 * 16 * 4 * 4 + 2 * 16 * 16 * 4)


@pytest.mark.parametrize("name", grid(MODELS, [*MODELS][:2]))
def test_a_copy_that_nobody_has_any_more_leaves_nothing_behind_not_even_its_tokenizer(name):
    copy = MODELS[name]().with_random_weights(0)
    texts = (TEXT, TARGET) if copy.info.kind == "encoder-decoder" else (TEXT,)
    assert len({prediction.text for prediction in copy.predict(*texts, top=5)}) == 5 and copy.trace(*texts).logits is not None
    held = [weakref.ref(thing) for thing in (copy, copy.network, copy.vocabulary)]
    del copy
    gc.collect()
    assert not any(reference() for reference in held)


@pytest.mark.parametrize("name", ["our decoder", "GPT-2", "Llama"])
def test_a_class_reads_a_text_once(name):
    model, traces = MODELS[name](), []
    model.network.eval()
    for reader in ("ann", "bob", "eve"):
        with reading_for(reader):
            traces.append(model.trace(TEXT))
    assert all(reading.hidden["self"] is traces[0].hidden["self"] for reading in traces), (
        "what is read again has numbers of its own"
    )
    alone = model.trace(TEXT, remember=False)
    assert all(np.array_equal(reading.logits_at(-1), traces[0].logits_at(-1)) for reading in traces)
    np.testing.assert_allclose(traces[2].logits_at(-1), alone.logits_at(-1), atol=1e-4)


@pytest.mark.parametrize("name", ["our decoder", "our translator", "GPT-2"])
def test_a_row_of_scores_is_that_of_all_whatever_was_asked_for_before(name):
    trace = MODELS[name]().trace(TEXT, TARGET if name == "our translator" else "")
    count = len(trace.read)
    for position in (0, 0, -1, count - 1, 1, -count, np.int64(1), -1):
        row = trace.logits_at(position)
        np.testing.assert_allclose(row, trace.logits[position], atol=1e-4)
        row += 1  # whoever has it may write into it
        np.testing.assert_allclose(trace.scores_at(position), trace.logits[position], atol=1e-4)
    with pytest.raises(IndexError):
        trace.logits_at(count)
