"""Toy tasks and the training that one watches: answers follow from what is given, and it learns, pauses, ends and survives."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import models
from analysis import head_labels
from models.edits import Edit, Head
from models.errors import ModelError
from models.gradients.losses import Scored, losses, scored
from models.scratch.config import TransformerConfig
from models.tokens import ByteLevelTokens
from models.training import live, paced
from models.training.corpus import byte_tokenizer
from models.training.live import OPTIMIZERS, SIZES, START, VOCABULARY, Budget, Training, inputs, mean_weights
from models.training.tasks import MONTHS, TASKS, Task
from models.training.turns import Turns

TYPED = "The cat sat on the mat, and the dog sat on the cat. " * 2
SMALL = {"vocabulary": VOCABULARY, "context": 64, "d_model": 32, "layers": 2, "heads": 2, "d_ff": 64}


ROOT = Path(__file__).parents[3]
WITHOUT_COMPILER = """
import sys
import models
from models.training.live import OPTIMIZERS, SIZES, Budget, Training, TransformerConfig
from models.training.tasks import TASKS
from models.lens.tuned_lens import LensRecipe, train
for optimizer in OPTIMIZERS:
    Training(TASKS["copy"](), TransformerConfig(**SIZES), Budget(rows=2, optimizer=optimizer)).advance(2)
train(models.load("writer"), ["The dog ran into the garden. " * 200], LensRecipe(steps=2))
print(*sys.modules)
"""


def task(name: str) -> Task:
    return TASKS[name](TYPED) if name == "text" else TASKS[name]()


@pytest.mark.parametrize("name", TASKS)
@given(seed=st.integers(0, 2**31))
def test_examples_have_one_length_and_batches_say_what_is_known(name, seed):
    chosen_task = task(name)
    given_, answer = chosen_task.example(np.random.default_rng(seed))
    assert answer and len(given_ + answer) == chosen_task.length
    codes, known = chosen_task.batch(np.random.default_rng(seed), 3)
    assert codes.shape == known.shape == (3, chosen_task.length)
    assert bytes(codes[0].tolist()).decode() == given_ + answer
    assert "".join(chr(code) for code in codes[0][known[0]]) == answer


@given(seed=st.integers(0, 2**31))
def test_answers_follow_from_what_is_given(seed):
    generator = np.random.default_rng(seed)
    for name, turn in {"copy": str, "reverse": lambda text: text[::-1], "sort": lambda text: "".join(sorted(text))}.items():
        given_, answer = task(name).example(generator)
        assert answer == turn(given_.removesuffix("|"))
    given_, answer = task("repeat").example(generator)
    text, period = given_ + answer, len(given_) - 1
    assert all(text[i] == text[i - period] for i in range(period, len(text)))
    assert len(set(text[:period])) == period, "what follows a letter is certain"
    given_, answer = task("dates").example(generator)
    year, month, day = answer.split("-")
    assert given_ == f"{int(day):2d} {MONTHS[int(month) - 1]} {year}|"
    given_, answer = task("add").example(generator)
    first, second = given_.removesuffix("|").split("+")
    assert int(answer) == int(first) + int(second) and len(first) == len(second) == 3
    given_, answer = task("brackets").example(generator)
    text, before = given_.removesuffix("|") + answer.rstrip("."), None
    while text != before:  # what closes itself is taken out, from the inside
        before, text = text, text.replace("()", "").replace("[]", "").replace("{}", "")
    assert text == ""
    given_, answer = task("text").example(generator)
    assert given_ + answer in TYPED


def test_sizes_that_cannot_be_are_a_sentence():
    with pytest.raises(ValueError, match="at least 48 characters"):
        TASKS["text"]("too short")
    with pytest.raises(ValueError, match="from 8 to 52"):
        TASKS["repeat"](500)
    with pytest.raises(ValueError, match="from 1 to 40"):
        TASKS["copy"](0)
    with pytest.raises(ValueError, match="at most 5,000,000"):
        Training(task("copy"), TransformerConfig(**SMALL | {"d_model": 512, "d_ff": 2048, "layers": 6}), Budget())
    with pytest.raises(ValueError, match="takes 40 positions"):
        Training(task("repeat"), TransformerConfig(**SMALL | {"context": 32}), Budget())
    with pytest.raises(ValueError, match="decoder"):
        Training(task("copy"), TransformerConfig(**SMALL, kind="encoder"), Budget())


def test_it_learns_and_shows_itself():
    training = Training(task("dates"), TransformerConfig(**SMALL), Budget(steps=60, every=20, rows=16))
    training.advance(100)
    assert (training.state, training.step, len(training.curves.loss)) == ("done", 60, 60)
    assert [snapshot.step for snapshot in training.snapshots] == [0, 20, 40, 60]
    assert np.mean(training.curves.loss[-10:]) < 0.7 * np.mean(training.curves.loss[:5])
    last = training.snapshots[-1]
    assert last.accuracy > training.snapshots[0].accuracy
    assert last.attention.shape == (2, 2, 22, 22)
    np.testing.assert_allclose(last.attention.astype(float).sum(-1), 1, atol=1e-2)
    assert np.triu(last.attention, 1).max() == 0
    for layer in range(2):
        for head in range(2):
            rows = last.attention[layer, head].astype(float)[1:]  # the first query has no choice
            mean = np.mean([-sum(p * np.log(p) for p in row if p > 0) for row in rows])
            assert last.entropy[layer, head] == pytest.approx(mean, abs=5e-3)


def test_the_same_seed_learns_the_same():
    losses = []
    for _ in range(2):
        training = Training(task("copy"), TransformerConfig(**SMALL), Budget(steps=5))
        training.advance(5)
        losses.append(training.curves.loss)
    assert losses[0] == losses[1]


def test_it_pauses_goes_on_and_stops():
    training = Training(task("copy"), TransformerConfig(**SMALL), Budget(steps=10_000, rows=4))
    training.start()
    while training.step < 3:
        time.sleep(0.01)
    training.pause()
    step = training.step
    assert training.state == "paused" and step < 10_000
    time.sleep(0.1)
    assert training.step == step, "it rests"
    training.start()
    while training.step <= step:
        time.sleep(0.01)
    training.stop()
    assert training.state == "stopped" and "Stopped after" in training.says


def test_a_loss_that_is_no_number_keeps_the_last_good_weights():
    training = Training(task("copy"), TransformerConfig(**SMALL), Budget(steps=50, every=5, rows=4))
    training.advance(10)
    good = {name: weight.clone() for name, weight in training.network.state_dict().items()}
    training.advance(2)
    with torch.no_grad():
        training.network.embedding.weight.fill_(float("nan"))
    training.advance(1)
    assert training.state == "diverged" and "learning rate" in training.says
    for name, weight in training.network.state_dict().items():
        torch.testing.assert_close(weight, good[name])


def test_time_is_bounded():
    training = Training(task("copy"), TransformerConfig(**SMALL), Budget(steps=10_000, rows=4, seconds=1e-9))
    training.advance(10)
    assert training.state == "done" and training.step == 1 and "time is up" in training.says


def test_heads_are_scored_by_where_they_look():
    codes = np.frombuffer(b"abcabca", dtype=np.uint8).astype(np.int64)
    tokens = inputs(codes[None])[0].tolist()
    previous, induction = np.zeros((2, 1, 1, 7, 7))
    for query in range(7):
        previous[..., query, max(0, query - 1)] = 1
        earlier = [place for place in range(query) if tokens[place] == tokens[query]]
        induction[..., query, earlier[-1] + 1 if earlier else 0] = 1
    assert mean_weights(previous, tokens)[0] == 1 and mean_weights(induction, tokens)[1] == 1
    assert np.isnan(mean_weights(previous[..., :3, :3], tokens[:3])[1]).all()
    doubled = inputs(np.frombuffer(b"aabc", dtype=np.uint8).astype(np.int64)[None])[0].tolist()
    assert np.isnan(mean_weights(np.eye(4)[None, None], doubled)[1]).all(), "the second a looks at itself, not back"


@pytest.fixture(scope="module")
def repeating() -> Training:
    """Page Train's first model, as it is after its training."""
    training = Training(task("repeat"), TransformerConfig(**SIZES), Budget())
    training.advance(10_000)
    return training


@pytest.mark.thorough
def test_the_default_budget_learns_repeated_sequences_with_an_induction_head(repeating):
    """It takes twenty seconds, in which a model is trained with the default budget."""
    last = repeating.snapshots[-1]
    assert last.step == Budget().steps and last.accuracy >= 0.99 and last.induction.max() >= 0.5
    assert repeating.snapshots[0].induction.max() < 0.2
    before = next(snapshot for snapshot in repeating.snapshots if snapshot.induction.max() >= 0.5)
    earlier = [snapshot for snapshot in repeating.snapshots if snapshot.induction.max() < 0.5]
    assert earlier[-1].accuracy > 0.9 < before.accuracy, "most answers are right before, as the lesson says"
    assert before.previous.max() > 2 * repeating.snapshots[0].previous.max(), "the previous-token head comes first"


@pytest.mark.thorough
def test_what_was_learned_rests_on_the_heads_called_induction(repeating, tmp_path):
    """The loss rises most without the clearest induction head of the last layer; without all its induction heads nothing is left,
    and its other heads are not needed. (The heads of the layer before, which all of them read, are.)"""
    repeating.write(tmp_path / "repeat")
    model = models.load(str(tmp_path / "repeat"))
    labels = head_labels(model).query("layer == 1").set_index("head")
    called = [head for head, label in labels["label"].items() if label.startswith("induction")]
    generator = np.random.default_rng(7)
    examples = [repeating.task.example(generator) for _ in range(8)]
    whole = [scored(model, question + answer) for question, answer in examples]
    known = [
        Scored(text.trace, text.positions[len(question) :], text.ids[len(question) :])
        for text, (question, _) in zip(whole, examples, strict=True)
    ]
    off = [[], *([head] for head in labels.index), called, [head for head in labels.index if head not in called]]
    edits: list[list[Edit]] = [[Head(1, head) for head in heads_off] for heads_off in off]
    plain, *alone, without, others = np.mean([losses(model, text, edits) for text in known], axis=0)
    assert int(np.argmax(alone)) == labels["induction"].idxmax() in called
    assert plain < 0.05 and others < 0.1 and without > 2


def test_a_written_model_is_opened_and_says_the_same(tmp_path):
    training = Training(task("text"), TransformerConfig(**SMALL), Budget(steps=20, rows=8))
    training.advance(20)
    training.write(tmp_path / "mine")
    model = models.load(str(tmp_path / "mine"))
    text = "".join(training.probe)[:-1]
    trace = model.trace(text)
    assert [token.id for token in trace.tokens] == training.read
    for layer, seen in enumerate(training.snapshots[-1].attention):
        np.testing.assert_allclose(trace.attention["self"][layer], seen, atol=1e-3)
    ids = torch.tensor([training.read])
    np.testing.assert_allclose(trace.logits, training.network.eval()(ids)[0].detach(), atol=1e-5)
    assert "".join(token.text for token in model.tokenize("für 😀\n")[1:] if not token.fragment).startswith("f")


def test_folders_that_are_broken_are_a_sentence(tmp_path):
    training = Training(task("copy"), TransformerConfig(**SMALL), Budget())
    for name, spoil in {
        "too large": lambda folder: (folder / "config.json").write_text('{"kind": "decoder", "d_model": 65536}'),
        "deep": lambda folder: (folder / "config.json").write_text('{"kind": "decoder", "layers": 1000000000}'),
        "odd": lambda folder: (folder / "config.json").write_text('{"kind": "decoder", "heads": 7}'),
        "cut": lambda folder: (folder / "model.safetensors").write_bytes(b"nothing"),
        "mute": lambda folder: (folder / "tokenizer.json").write_text("{}"),
    }.items():
        training.write(tmp_path / name)
        spoil(tmp_path / name)
        with pytest.raises(ModelError, match="holds no transformer of ours"):
            models.load(str(tmp_path / name))


@given(st.text(max_size=40))
def test_bytes_are_tokens(typed):
    typed = typed.encode("utf-8", "replace").decode()
    tokens = ByteLevelTokens(byte_tokenizer(), "<|start|>").tokens(typed)
    assert [token.id for token in tokens] == [START, *typed.encode()]


def wait_for_the_end(training: Training) -> None:
    until = time.monotonic() + 60
    while training.state == "running":
        assert time.monotonic() < until
        time.sleep(0.005)


def test_whoever_starts_a_training_does_not_wait_for_its_first_snapshot():
    """Which reads 64 examples: on a page it would hold up those who type elsewhere."""
    training = Training(task("copy"), TransformerConfig(**SMALL), Budget(steps=3, every=3, rows=4))
    assert not training.has_begun and training.memory > 0 and not training.has_begun
    training.start()
    wait_for_the_end(training)
    assert training.has_begun and [snapshot.step for snapshot in training.snapshots] == [0, 3]
    other = Training(task("copy"), TransformerConfig(**SMALL), Budget(steps=3, every=3, rows=4))
    assert [snapshot.step for snapshot in other.snapshots] == [0] and other.has_begun, "and it is there for who asks for it"
    np.testing.assert_array_equal(other.snapshots[0].attention, training.snapshots[0].attention)


class Busy:
    """Somebody else’s training, in the middle of a step until `over` is set."""

    def __init__(self) -> None:
        self.begun, self.over = threading.Event(), threading.Event()

    def take_turn(self) -> bool:
        self.begun.set()
        self.over.wait(20)
        return False


def test_whoever_pauses_does_not_wait_for_the_turns_of_others(monkeypatch):
    turns, busy = Turns(1), Busy()
    monkeypatch.setattr(paced, "shared", turns)
    turns.ask(busy)
    assert busy.begun.wait(20)
    waits = Training(task("copy"), TransformerConfig(**SMALL), Budget(steps=3, every=3, rows=4))
    waits.start()
    waits.pause()
    assert (waits.state, waits.step, len(turns._waiting)) == ("paused", 0, 0)
    waits.start()
    busy.over.set()
    wait_for_the_end(waits)
    assert (waits.state, waits.step) == ("done", 3)


def test_it_is_told_of_every_snapshot_and_of_the_end():
    seen = []
    watch = lambda training: seen.append((training.state, training.snapshots[-1].step))  # noqa: E731
    training = Training(task("copy"), TransformerConfig(**SMALL), Budget(steps=6, every=3, rows=4), watch)
    training.advance(10)
    assert [step for _, step in seen] == [0, 3, 6, 6] and seen[-1][0] == "done"


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_rate_that_is_too_high_ends_in_a_sentence(optimizer):
    training = Training(task("copy"), TransformerConfig(**SMALL), Budget(rate=1e8, rows=4, optimizer=optimizer))
    training.advance(200)
    assert training.state == "diverged" and "1e+08, is too high" in training.says and len(training.snapshots) >= 1
    assert all(torch.isfinite(weight).all() for weight in training.network.state_dict().values())


def test_memory_is_calculated_and_bounded(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(live, "MOST_BYTES", 10**6)
        with pytest.raises(ValueError, match=r"would take about .* [MG]B, and 1 MB are allowed"):
            Training(task("repeat"), TransformerConfig(**SMALL), Budget())
    training = Training(task("repeat"), TransformerConfig(**SMALL), Budget(steps=20, rows=2))
    promised = training.memory
    training.advance(20)
    tensors = [*training.network.state_dict().values(), *training._good.values()]
    tensors += [parameter.grad for parameter in training.network.parameters() if parameter.grad is not None]
    memories = [memory for optimizer, _ in training._optimizers for memory in optimizer.memory.values()]
    tensors += [part for memory in memories for part in memory.values() if isinstance(part, torch.Tensor)]
    held = sum(tensor.nbytes for tensor in tensors) + sum(snapshot.attention.nbytes for snapshot in training.snapshots)
    assert held == pytest.approx(promised, rel=0.1), "what is held between two steps"
    training.stop()
    assert training.memory < promised / 2
    for wrong, sentence in (
        ({"steps": 0}, "steps"),
        ({"rate": 0.0}, "learning rate"),
        ({"optimizer": "lion"}, "optimizer"),
        ({"schedule": "up"}, "schedule"),
        ({"decay": 1.0}, "Weight decay"),
    ):
        with pytest.raises(ValueError, match=sentence):
            Budget(**wrong)


def test_examples_of_a_large_step_are_learned_from_in_parts(monkeypatch):
    """The activations of all of them would take gigabytes."""
    curves, most = [], []
    for part in (live.PART, 3 * live.activation_bytes(TransformerConfig(**SMALL), task("dates").length)):
        monkeypatch.setattr(live, "PART", part)
        training = Training(task("dates"), TransformerConfig(**SMALL), Budget(rows=8))
        rows: list[int] = []
        training.network.register_forward_pre_hook(
            lambda network, given, rows=rows: rows.append(network.training * len(given[0]))
        )
        training.advance(3)
        curves.append([training.curves.loss, training.curves.norm])
        most.append(max(rows))
    assert most == [8, 3]
    np.testing.assert_allclose(curves[1], curves[0], rtol=1e-4)


def test_text_of_any_letters_is_learned_from_by_its_bytes():
    learning = TASKS["text"]("Füße über Flüsse, Bäche und Gräben gehen müde nach Hause. ")
    codes, known = learning.batch(np.random.default_rng(0), 4)
    assert codes.shape == (4, 48) and codes.max() > 127 and known[:, 1:].all()


@pytest.mark.thorough
def test_what_learns_on_a_server_does_not_load_torch_s_compiler():
    """Its 800 modules take seconds, in which nobody else is answered, and 100 MB."""
    done = subprocess.run([sys.executable, "-c", WITHOUT_COMPILER], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "models.training.optimizers" in loaded and not loaded & {"torch._dynamo", "torch._inductor", "sympy"}
