"""The trainings of this process: visitors come back to their own, and trained models open like any model."""

from __future__ import annotations

import itertools
import logging
import re
import secrets
import shutil
import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import streamlit as st

from models.adapting.strength import strength_of, with_strength, without_strength
from models.errors import ModelError, is_full
from ui import state
from ui.escaping import KEY, display_name, distinct_name
from ui.memory import addresses, limits, own_folder
from ui.memory.guesses import Guesses
from ui.memory.shares import Bound, Crowded, Share, choose_leaving
from ui.rooms.home import home

if TYPE_CHECKING:
    from models.adapting.teaching import Teaching
    from models.training.live import Training

RUNS = 4  # of a visitor that stand side by side
EXAMPLES = 5  # that a trained model offers
# What a trained model is called, with its key or without; one that was taught, also with the strength of its change.
NAMED = re.compile(rf"(taught [^,]+|[a-z]+), \d+ steps?( at \d+ %)?({KEY.pattern})?")
LINKED = 4  # keys that a link may have: of a model, and of those beside it
WRONG, OWN = 600, 30  # wrong keys a minute, of a network, which a class may share, and of a browser

# What is kept of all visitors, and of a network. A class of sixty fits behind one: a training takes 3 MB as it is by default, and
# 100 MB at the most; what it has learned 0.5 MB, and 20 MB at the most.
KEPT, KEPT_OF_NETWORK = Bound(96, 400 * 10**6), Bound(64, 190 * 10**6)
WRITTEN, WRITTEN_OF_NETWORK = Bound(600, 400 * 10**6), Bound(400, 200 * 10**6)
LEAVES = {"running": None, "paused": 1}  # of those that have ended the oldest leaves first
REMEMBERED = 1000  # trainings that have left, until their visitors have been told

FULL = "This server already runs as many trainings as it allows at a time. Try again in a few minutes."
FULL_NETWORK = "Your network already runs as many trainings as this server allows at a time. Try again in a few minutes."
LEFT = (
    "This server needed the place of your training “{task}” ({state}, {steps} step{s}) for somebody else’s. Train it again, and "
    "take the model away as soon as it is trained."
)
GUESSED = "Too many keys of trained models that do not exist came from your {where}. Try again in a minute."


@dataclass(frozen=True)
class Trained:
    """A model that was trained here. name: "repeat, 400 steps (<32 digits>)", which the key makes unique on this server; key:
    whoever has it in a link may open the model; folder: of its files; whose: its visitor's `browser()`; network: its visitor's;
    examples: texts that suit it, its own first; induction: layer, head and score of its induction head, None if its task has
    none; reads: those of the head that its task needs (`reader`), None for a model that was taught; base: the model that was
    taught, "" for one that began from nothing."""

    name: str
    key: str
    folder: Path
    whose: str
    network: str
    examples: tuple[str, ...]
    induction: tuple[int, int, float] | None
    reads: tuple[int, int, float] | None
    base: str = ""

    @property
    def task(self) -> str:
        return self.folder.name.partition(",")[0]

    @cached_property
    def bytes(self) -> int:
        """The bytes of its files."""
        return sum(file.stat().st_size for file in self.folder.iterdir())


class OwnedTraining(NamedTuple):
    """A training, the browser that it belongs to, its network, and what its visitor calls it: "" where they have not named it."""

    whose: str
    network: str
    training: Training | Teaching
    title: str = ""

    @property
    def run(self) -> Training | None:
        """The training of a task; None where a model is taught sentences."""
        return None if is_teaching(self.training) else cast("Training", self.training)


_lock = threading.Lock()
_trained: dict[str, Trained] = {}  # by name, the oldest first
_owned: OrderedDict[str, OwnedTraining] = OrderedDict()  # by name, the oldest first
_left: OrderedDict[str, tuple[str, str]] = OrderedDict()  # by name: whose it was, and what they are told
_guesses = Guesses(OWN, lambda: WRONG // home.count)


def browser() -> str:
    """Return a token that identifies the visitor's browser, so that they find their training after a reload: that of Streamlit's
    own cookie against forged requests; "" where it is switched off."""
    return unmask(str(st.context.cookies.get("_streamlit_xsrf", "")))


def unmask(cookie: str) -> str:
    """Return the token of a cookie "2|mask|token xor mask|time", both in hex: the mask changes at each request, the token does
    not.
    """
    try:
        _, mask, masked, _ = cookie.strip("\"'").split("|")
        return bytes(a ^ b for a, b in zip(bytes.fromhex(masked), itertools.cycle(bytes.fromhex(mask)), strict=False)).hex()
    except ValueError:
        return ""


def new_name() -> str:
    """Return a random name of 128 bits that nobody can guess: the key of a training's models."""
    return secrets.token_hex(16)


class Full(ValueError):
    """There is no room for another running training."""


def is_teaching(training: Training | Teaching) -> bool:
    """Return whether a model is taught sentences, on page Adapt; else it learns a task, on page Train."""
    return hasattr(training, "sentences")


def keep(name: str, training: Training | Teaching) -> None:
    """Register a training as this visitor's. Errors: Full, a sentence, when this visitor has as many running trainings as are
    allowed, or when so many run that none can be dropped."""
    me, network = browser(), addresses.mine()
    with _lock:
        _check_running(me)
        shares = [
            Share(other, entry.network, entry.training.memory, LEAVES.get(entry.training.state, 0))
            for other, entry in _owned.items()
        ]
        try:
            names = choose_leaving(shares, Share(name, network, training.memory), KEPT_OF_NETWORK, KEPT)
        except Crowded as crowded:
            raise Full(FULL_NETWORK if crowded.near else FULL) from None
        removed = {other: _owned.pop(other) for other in names}
        _owned[name] = OwnedTraining(me, network, training)
    for other, entry in removed.items():
        _let_go(other, entry)
    if is_teaching(training):
        state.TEACHING.set(name)
    else:
        state.TRAINING.set(name)
        state.TRAININGS.set((*state.TRAININGS.get(), name))
    state.TRAINING_LEFT.pop()


def check_running() -> None:
    """Errors: Full, a sentence, when this visitor has as many running trainings as are allowed."""
    with _lock:
        _check_running(browser())


def _check_running(me: str) -> None:
    own = sum(entry.whose == me and entry.training.state == "running" for entry in _owned.values())
    if own >= (most := limits.most(limits.TRAININGS)):
        raise Full(
            f"This server runs at most {most:.0f} of your trainings at a time. Stop the one that runs, or wait for its end."
        )


def _let_go(name: str, entry: OwnedTraining) -> None:
    """Stop a training that is dropped, and remember the notice for its visitor."""
    training_state, steps = entry.training.state, entry.training.step
    entry.training.stop()
    shutil.rmtree(logs(name), ignore_errors=True)
    with _lock:
        _left[name] = (
            entry.whose,
            LEFT.format(task=entry.training.subject, state=training_state, steps=steps, s="s"[: steps != 1]),
        )
        while len(_left) > REMEMBERED:
            _left.popitem(last=False)


def mine() -> tuple[str, Training | None]:
    """Return this visitor's training and its name: the one begun in this session, or the newest of this browser."""
    name, training = _newest(state.TRAINING, teaches=False)
    return name, cast("Training | None", training)


def my_teaching() -> tuple[str, Teaching | None]:
    """Return what this visitor teaches a model on page Adapt, and its name, as `mine`."""
    name, teaching = _newest(state.TEACHING, teaches=True)
    return name, cast("Teaching | None", teaching)


def _newest(key: state.Key[str], teaches: bool) -> tuple[str, Training | Teaching | None]:
    name, me = key.get(), browser()
    _hear_what_left(name, me)
    if name not in _owned:
        own = [
            other for other, entry in list(_owned.items()) if me and entry.whose == me and is_teaching(entry.training) == teaches
        ]
        name = own[-1] if own else ""
    key.set(name)
    return name, entry.training if (entry := _owned.get(name)) else None


def runs() -> list[tuple[str, Training]]:
    """Return the names and trainings of this visitor, the oldest first: of this session and of this browser."""
    begun, me = state.TRAININGS.get(), browser()
    owned = [(name, entry.run) for name, entry in list(_owned.items()) if name in begun or (me and entry.whose == me)]
    return [(name, run) for name, run in owned if run is not None]


def title(name: str) -> str:
    """Return what its visitor calls a training; "" where they have not named it."""
    return entry.title if (entry := _owned.get(name)) else ""


def rename(name: str, title: str) -> None:
    """Name a training of this visitor; "" takes its name away."""
    if name not in dict(runs()):
        return
    with _lock:
        if name in _owned:
            _owned[name] = _owned[name]._replace(title=title)


def _hear_what_left(name: str, me: str) -> None:
    """Take over the notice about this visitor's training that the server has dropped."""
    with _lock:
        names = [other for other, (whose, _) in _left.items() if other == name or (me and whose == me)]
        sentences = [_left.pop(other)[1] for other in names]
    if sentences:
        state.TRAINING_LEFT.set(sentences[-1])


def notice_of_loss() -> str:
    """Return a sentence on this visitor's training that the server has dropped; "" for none, and once they have begun another."""
    return state.TRAINING_LEFT.get()


def forget(name: str = "") -> None:
    """Stop and drop a training of this visitor. name: "" for the one that is shown."""
    if name in ("", state.TRAINING.get()):
        name = state.TRAINING.pop()
    elif name not in dict(runs()):
        return
    _drop(name)


def forget_teaching() -> None:
    """Stop and drop what this visitor teaches."""
    _drop(state.TEACHING.pop())


def _drop(name: str) -> None:
    with _lock:
        entry = _owned.pop(name, None)
    if entry is not None:
        entry.training.stop()


def running() -> int:
    """Return how many trainings run right now."""
    return sum(entry.training.state == "running" for entry in list(_owned.values()))


def model_title(training: Training | Teaching) -> str:
    """Return the name of the present model without its key: "dates, 40 steps"."""
    steps = training.learned
    return f"{training.subject}, {steps} step{'s'[: steps != 1]}"


def model_name(name: str, training: Training | Teaching) -> str:
    """Return the name that the present model of a training has once it is written."""
    return f"{model_title(training)} ({name})"


def write_model(name: str, training: Training | Teaching) -> Trained:
    """Write the present model to a folder, and return it as a trained model. Errors: ModelError when it cannot be written."""
    title, begun = model_title(training), None
    try:
        folder = own_folder.folder() / f"{name}-{training.learned}" / title
        if not folder.is_dir():
            begun = folder.with_name("begun")
            training.write(begun)
            begun.rename(folder)  # now it is whole
    except Exception as error:  # of the system, or of safetensors and tokenizers in their own kinds
        if begun:
            shutil.rmtree(begun.parent, ignore_errors=True)
        logging.getLogger(__name__).exception("%s could not be written", title)
        raise ModelError(f"The model could not be written to a folder. {why(error)}; the training is not harmed.") from error
    entry = _owned.get(name)
    whose, network = (entry.whose, entry.network) if entry else (browser(), addresses.mine())
    return _shelve(Trained(model_name(name, training), name, folder, whose, network, *facts_of(training)))


def facts_of(training: Training | Teaching) -> tuple:
    """Return the rest of a trained model's facts: its examples, its induction head, the head that its task needs, its base."""
    if is_teaching(training):
        teaching = cast("Teaching", training)
        return tuple(sentence.question for sentence in teaching.sentences[:EXAMPLES]), None, None, teaching.model.info.name
    run = cast("Training", training)
    return own_examples(run), induction(run), reader(run)


def _shelve(trained: Trained) -> Trained:
    """Keep a model that was written; where there is no room, others are dropped with their folders."""
    with _lock:
        if known := _trained.get(trained.name):
            return known
        shares = [Share(name, other.network, other.bytes) for name, other in _trained.items()]
        names = choose_leaving(shares, Share(trained.name, trained.network, trained.bytes), WRITTEN_OF_NETWORK, WRITTEN)
        removed = [_trained.pop(name) for name in names]
        _trained[trained.name] = trained
    for other in removed:
        shutil.rmtree(other.folder.parent, ignore_errors=True)
    return trained


def find(name: str) -> Trained | None:
    """Return the model of that name, at any strength, if it was trained here, else None."""
    return _trained.get(without_strength(name))


def names(keys: str) -> list[str]:
    """Return the trained models of this browser, and those whose keys a link has, separated by commas."""
    if not _trained and not keys:
        return []
    linked, me = _linked(keys), browser()
    return [trained.name for trained in list(_trained.values()) if trained.key in linked or (me and trained.whose == me)]


def _linked(keys: str) -> set[str]:
    """Return the valid keys of a link; none for a visitor who has tried too many wrong ones."""
    linked = set(filter(None, keys.split(",", LINKED)[:LINKED]))
    if not linked or _guesses.over(*(who := (addresses.mine(), browser()))):
        return set()
    known = {trained.key for trained in list(_trained.values())}
    for key in linked - known:
        _guesses.note(key[:64], *who)
    return linked & known


def full_name(name: str, keys: str) -> str:
    """Return the full name of the newest of `names(keys)` with this short name, or with it and the beginning of its key, and the
    same strength; any other name unchanged."""
    short = without_strength(name)
    full = next((own for own in reversed(names(keys)) if short in (own, display_name(own), distinct_name(own))), "")
    return name if not full else full if short == name else with_strength(full, strength_of(name))


def keys(*names: str | None) -> str | None:
    """Return the keys that a link needs to open those of these models that were trained here; None for none."""
    return ",".join(dict.fromkeys(trained.key for name in names if name and (trained := find(name)))) or None


def check(name: str) -> None:
    """Raise ModelError when a trained model is not here, or when the visitor has tried too many wrong keys."""
    who, trained = (addresses.mine(), browser()), find(name)
    if trained and who[1] and trained.whose == who[1]:
        return
    if where := _guesses.over(*who):
        raise ModelError(GUESSED.format(where=where))
    if not trained:
        if key := KEY.search(name):
            _guesses.note(key[0], *who)
        raise ModelError(
            "It was trained on page Train or Adapt, and such a model stays for as long as its server runs and has room for it. "
            "Train it again, or open the folder that was taken away there."
        )


def why(error: Exception) -> str:
    """Return the reason why a file could not be written, without its path."""
    return "The disk of the server is full" if is_full(error) else "The server’s log says why"


def own_examples(training: Training) -> tuple[str, ...]:
    """Return texts that suit a trained model: its probe and others of its task, each without the last character."""
    import numpy as np

    generator = np.random.default_rng(training.budget.seed)
    more = ["".join(training.task.example(generator)).encode("latin-1") for _ in range(EXAMPLES - 1)]
    texts = [
        text[:-1].decode("utf-8", "ignore") for text in (b"".join(training.example), *more)
    ]  # a character of a task is a byte
    return tuple(dict.fromkeys(texts))


def induction(training: Training) -> tuple[int, int, float] | None:
    """Return layer, head and score of the head that looks most at the tokens after earlier copies, in the newest snapshot."""
    import numpy as np

    scores = training.snapshots[-1].induction
    if not np.isfinite(scores).all():
        return None
    layer, head = np.unravel_index(scores.argmax(), scores.shape)
    return int(layer), int(head), float(scores.max())


def reader(training: Training) -> tuple[int, int, float]:
    """Return layer and head of the head that its task needs, and its mean weight on the tokens that it should look at: those
    after earlier copies; in a text that is learned by heart, the previous token; else, in the snapshots' example, the place in
    the question of the answer's next character."""
    import numpy as np

    newest = training.snapshots[-1]
    scores = newest.previous if training.task.name == "text" else newest.induction
    if training.task.name not in ("text", "repeat"):
        prompt, answer = training.example
        tokens_read = np.array(training.read)
        rows = [(len(prompt) + at, np.flatnonzero(tokens_read[: len(prompt) + 1] == code)) for at, code in enumerate(answer)]
        weights = [newest.attention[:, :, row, keys].astype(np.float32).sum(-1) for row, keys in rows if len(keys)]
        scores = np.mean(weights, axis=0)
    layer, head = np.unravel_index(scores.argmax(), scores.shape)
    return int(layer), int(head), float(scores.max())


def examples(name: str) -> list[str]:
    """Return the examples of a model that was trained here, by its name; none for other models."""
    return list(trained.examples) if (trained := find(name)) else []


def logs(name: str) -> Path:
    """Return the folder for the training's TensorBoard log."""
    return own_folder.folder() / "logs" / name
