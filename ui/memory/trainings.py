"""The trainings that go on in this process: each visitor comes back to their own, and what was trained opens like any model."""

from __future__ import annotations

import itertools
import logging
import re
import shutil
import threading
import uuid
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from models.errors import ModelError, is_full
from ui import state
from ui.memory import bounds, own_folder
from ui.text import KEY, called

if TYPE_CHECKING:
    from models.training.live import Training

EXAMPLES = 5  # that a trained model offers
NAMED = re.compile(rf"[a-z]+, \d+ steps?({KEY.pattern})?")  # what a trained model is called, with its key or without
KEPT = 16  # trainings; of those that have ended the oldest leaves first, then of those that are paused, and none that runs


@dataclass(frozen=True)
class Trained:
    """A model that was trained here. name: "repeat, 400 steps (3f2a1c9b)", on this server its own, because of the key; key: who
    has it in a link may open the model; folder: where its files lie; whose: its visitor's `browser()`; examples: texts that it
    is good at, its own first; induction: layer, head and score of its induction head, None where its task has none; reads: those
    of the head that its task takes (`reader`)."""

    name: str
    key: str
    folder: Path
    whose: str
    examples: tuple[str, ...]
    induction: tuple[int, int, float] | None
    reads: tuple[int, int, float]

    @property
    def task(self) -> str:
        return self.folder.name.partition(",")[0]


_lock = threading.Lock()
_trained: dict[str, Trained] = {}  # by name
_kept: OrderedDict[str, tuple[str, Training]] = OrderedDict()  # by name: whose it is, and the training


def browser() -> str:
    """What tells a visitor's browser from others, so that they find their training after a reload: the token in a cookie of
    Streamlit's own, made against forged requests; "" where it is switched off."""
    return unmasked(str(st.context.cookies.get("_streamlit_xsrf", "")))


def unmasked(cookie: str) -> str:
    """The token of a cookie "2|mask|token xor mask|time", both in hex: it stays while the mask is another one at each request."""
    try:
        _, mask, masked, _ = cookie.strip("\"'").split("|")
        return bytes(a ^ b for a, b in zip(bytes.fromhex(masked), itertools.cycle(bytes.fromhex(mask)), strict=False)).hex()
    except ValueError:
        return ""


def new_name() -> str:
    return uuid.uuid4().hex[:8]


class Full(ValueError):
    """As many trainings run as there is room for."""


def keep(name: str, training: Training) -> None:
    """Make a training this visitor's. Errors: Full, a sentence, when this visitor has as many that run as one may, or when there
    are so many that run that none can leave."""
    with _lock:
        left, me = None, browser()
        own = sum(whose == me and kept.state == "running" for whose, kept in _kept.values())
        if own >= (most := bounds.most(bounds.TRAININGS)):
            raise Full(
                f"This server runs at most {most:.0f} of your trainings at a time. Stop the one that runs, or wait for its end."
            )
        if len(_kept) >= KEPT:
            states = {other: kept.state for other, (_, kept) in _kept.items()}
            ended = [other for other, state in states.items() if state not in ("running", "paused")]
            paused = [other for other, state in states.items() if state == "paused"]
            if not ended and not paused:
                raise Full(
                    f"{KEPT} trainings run on this server at the moment, and it takes no more. Try again in a few minutes."
                )
            _, left = _kept.pop((ended or paused)[0])
        _kept[name] = me, training
    if left is not None:
        left.stop()
    state.TRAINING.set(name)


def mine() -> tuple[str, Training | None]:
    """This visitor's training and its name: the one that was begun in this session, or the newest of this browser."""
    name, me = state.TRAINING.get(), browser()
    if name not in _kept:
        name = next((other for other, (whose, _) in reversed(list(_kept.items())) if me and whose == me), "")
    state.TRAINING.set(name)
    return name, _kept.get(name, ("", None))[1]


def forget() -> None:
    """Stop this visitor's training and let go of it."""
    name = state.TRAINING.pop()
    with _lock:
        _, training = _kept.pop(name, ("", None))
    if training is not None:
        training.stop()


def running() -> int:
    """How many go on right now."""
    return sum(training.state == "running" for _, training in list(_kept.values()))


def written(name: str, training: Training) -> Trained:
    """The model as it is now, in a folder. Errors: ModelError when it cannot be written."""
    steps = training.learned
    title = f"{training.task.name}, {steps} step{'s'[: steps != 1]}"
    folder = None
    try:
        folder = own_folder.folder() / f"{name}-{steps}" / title
        if not (folder / "tokenizer.json").is_file():  # written last
            training.write(folder)
    except Exception as error:  # of the system, or of safetensors and tokenizers in their own kinds
        if folder:
            shutil.rmtree(folder.parent, ignore_errors=True)
        logging.getLogger(__name__).exception("%s could not be written", title)
        raise ModelError(f"The model could not be written to a folder. {why(error)}; the training is not harmed.") from error
    whose, _ = _kept.get(name) or (browser(), None)
    trained = Trained(f"{title} ({name})", name, folder, whose, own_examples(training), induction(training), reader(training))
    return _trained.setdefault(trained.name, trained)


def find(name: str) -> Trained | None:
    """The model of that name, if it was trained here."""
    return _trained.get(name)


def names(keys: str) -> list[str]:
    """The trained models of this browser, and those whose keys a link has, with commas between."""
    if not _trained:
        return []
    asked, me = keys.split(","), browser()
    return [trained.name for trained in list(_trained.values()) if trained.key in asked or (me and trained.whose == me)]


def meant(name: str, keys: str) -> str:
    """The name of the newest of `names(keys)` that is called so; any other name as it is."""
    return next((trained for trained in reversed(names(keys)) if called(trained) == name), name)


def keys(*names: str | None) -> str | None:
    """What a link says beside the names of models, so that it opens those of them that were trained here; None for none."""
    return ",".join(dict.fromkeys(_trained[name].key for name in names if name in _trained)) or None


def check(name: str) -> None:
    """Errors: ModelError when a trained model is not here."""
    if not find(name):
        raise ModelError(
            "It was trained on page Train, and such a model stays for as long as its server runs. Train it again, or open the "
            "folder that was taken away there."
        )


def why(error: Exception) -> str:
    """Why a file could not be written, without a word of where."""
    return "The disk of the server is full" if is_full(error) else "The server’s log says why"


def own_examples(training: Training) -> tuple[str, ...]:
    """Texts that a trained model is good at: its probe and others of its task, each without the last character."""
    import numpy as np

    generator = np.random.default_rng(training.budget.seed)
    more = ["".join(training.task.example(generator)).encode("latin-1") for _ in range(EXAMPLES - 1)]
    texts = [
        text[:-1].decode("utf-8", "ignore") for text in (b"".join(training.example), *more)
    ]  # a character of a task is a byte
    return tuple(dict.fromkeys(texts))


def induction(training: Training) -> tuple[int, int, float] | None:
    """Layer, head and score of the head that looks most at what followed earlier copies, in the newest snapshot."""
    import numpy as np

    scores = training.snapshots[-1].induction
    if not np.isfinite(scores).all():
        return None
    layer, head = np.unravel_index(scores.argmax(), scores.shape)
    return int(layer), int(head), float(scores.max())


def reader(training: Training) -> tuple[int, int, float]:
    """Layer and head of the head that its task takes, and its mean weight on what it looks at: on what followed earlier copies;
    in a text that is learned by heart, on the token before; else, from where each character of the answer is said, on that
    character among those given, in the example that the snapshots are of."""
    import numpy as np

    newest = training.snapshots[-1]
    scores = newest.previous if training.task.name == "text" else newest.induction
    if training.task.name not in ("text", "repeat"):
        given, answer = training.example
        read = np.array(training.read)
        rows = [(len(given) + at, np.flatnonzero(read[: len(given) + 1] == code)) for at, code in enumerate(answer)]
        looks = [newest.attention[:, :, row, keys].astype(np.float32).sum(-1) for row, keys in rows if len(keys)]
        scores = np.mean(looks, axis=0)
    layer, head = np.unravel_index(scores.argmax(), scores.shape)
    return int(layer), int(head), float(scores.max())


def examples(name: str) -> list[str]:
    """The examples of a model that was trained here, by its name; none of another."""
    return list(_trained[name].examples) if name in _trained else []


def logs(name: str) -> Path:
    """The folder for the training's TensorBoard log."""
    return own_folder.folder() / "logs" / name
