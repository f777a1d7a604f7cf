"""Models in memory, shared between all sessions, and reading with them."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

import models
from models.adapting.strength import strength_of
from models.catalog import load_adapted
from models.errors import Cancelled, ModelError, is_short_of_memory
from models.files.progress import Progress, Report
from models.remote import backend
from ui.memory import pictures, trainings, visitors
from ui.memory.eviction import Shelf
from ui.memory.favourites import Favourite, favourite, prefer, previous_scores
from ui.memory.lanes import Lanes

if TYPE_CHECKING:
    from models.edits import Edit
    from models.generation.generate import Step
    from models.info import ModelInfo
    from models.language_model import LanguageModel
    from models.reading.requests import Request
    from models.trace import Trace

T = TypeVar("T")

# Python lets a busy thread run 5 ms before another gets its turn; what one thread has drawn should leave for the browser sooner.
sys.setswitchinterval(0.0005)


def _one_thread() -> None:
    import torch

    torch.set_num_threads(1)


MANY = 300_000_000  # from so many parameters on, a forward pass takes so long that all cores are worth their setting up

# Tokens that the app reads at a time, as many as fit into BYTES but never fewer than the first number: beyond, a key press takes
# seconds, and a room full of visitors more memory than there is. A notebook has no such limit.
READ_AT_MOST = (1024, 2048)
AT_ONCE = 40  # tokens that an answer grows by at a press
WAITING = 32  # texts that other machines read at a time for this process
BYTES = 2**30  # that one text may take while a page draws it

# Forward passes run on threads that stay: torch sets up helpers for each calling thread, and Streamlit makes a thread a run.
# Each uses one core, as many as there are cores: a short text gains nothing from two, and waits when a browser has the other.
# Where other machines read, a thread only waits for them.
_forwards = Lanes(WAITING if backend.asked_for() else os.cpu_count() or 2, _one_thread)


def _load(name: str, report: Report) -> LanguageModel:
    """Load a model and prepare it, so that its first page is drawn without delay.

    Everything runs on the loading thread: the threads for forward passes stay free for visitors who type meanwhile.
    """
    model = _trained(name, report) or backend.opened(name, report) or models.load(name, report=report)
    try:
        report(Progress("prepare"))
        _one_thread()
        if "image" in model.info.reads:
            model.trace(model.sample)
            favourite(model)
            return model
        (model.predict if model.info.predicts else model.trace)("Warm")  # the first pass sets up kernels
        model.at_most = read_at_most(model.info, model.trace("Warm"))
        model.trial  # noqa: B018  # reads a few texts side by side, so that nobody who types waits for that
        report(Progress("prepare"))
        previous_scores(model, "encoder" if model.info.kind == "encoder-decoder" else "self")
    except Cancelled:
        raise
    except Exception as error:
        if is_short_of_memory(error):
            raise
        logging.getLogger(__name__).exception("%s cannot read", name)
        raise ModelError(f"“{name}” was loaded, but it could not read a first text. Choose another model.") from error
    return model


def _trained(name: str, report: Report) -> LanguageModel | None:
    """Load a model that was trained here; None for any other name."""
    if not (trained := trainings.find(name)):
        return None
    if trained.base:
        return _taught(name, trained, report)
    from models.scratch.model_folder import from_folder

    model = from_folder(trained.folder, name)
    if trained.induction:
        prefer(model, Favourite(*trained.induction, "induction"))
    return model


def _taught(name: str, trained: trainings.Trained, report: Report) -> LanguageModel:
    """Load a model that was taught here, at the strength that its name names. What it does not change is shared with its base."""
    with shelf.reading(trained.base) if trained.base in shelf else nullcontext(models.load(trained.base, report=report)) as base:
        return load_adapted(base, trained.folder, strength_of(name), name)


def read_at_most(info: ModelInfo, trace: Trace) -> int:
    """Return how many tokens the app reads with a model at a time, estimated from the memory of a short trace.

    A text takes memory for each token (the trace and the logits) and for each pair of tokens: the weights of a layer, twice that
    to compute them, and the weights of every layer where queries and keys are not available. Four bytes a number.
    """
    token = trace.bytes / (len(trace.tokens) + len(trace.target)) + 4 * info.vocabulary
    pair = 4 * max(info.heads, info.decoder_heads) * (3 + (0 if info.queries else info.layers))
    fit = ((token**2 + 4 * pair * BYTES) ** 0.5 - token) / (2 * pair)
    return min(max(int(fit), READ_AT_MOST[0]), READ_AT_MOST[1])


def _limit() -> int:
    """Return the bytes of weights to keep: HEADLIGHT_MODEL_BYTES, or half of the free memory."""
    try:
        return int(float(os.environ["HEADLIGHT_MODEL_BYTES"]))
    except KeyError:
        pass
    except (ValueError, OverflowError):
        logging.getLogger(__name__).warning("HEADLIGHT_MODEL_BYTES is no number of bytes; half of the free memory is used.")
    from models.huggingface.memory import free_memory

    return free_memory() // 2


shelf = Shelf(_load, _limit, stay=models.names()[:1])


def _keep_for(here: visitors.Here) -> None:
    """Let models forget the texts of visitors who have left."""
    for model in shelf.models:
        model.forget(but_for=here)


visitors.leaving.append(_keep_for)


def model(name: str) -> LanguageModel:
    """Return the model of that name, loaded once a server. Errors: ModelError."""
    return shelf.get(name)


def read(name: str, text: str, target: str = "", edits: Sequence[Edit] = ()) -> Trace:
    """Return the Trace of a text by a shared model. Errors: ModelError when the model cannot be loaded; ValueError, a sentence,
    for an edit that it does not allow."""
    with shelf.reading(name) as model:
        _share_cores(model)  # the page computes what it shows of the trace on this thread
        if "image" in model.info.reads:
            if edits:
                return _run(name, _trace, model, pictures.read(model, text), "", visitors.me(), edits)
            return pictures.trace_once(model, text, lambda image: _run(name, _trace, model, image, "", visitors.me(), ()))
        if edits or not model.trial.longest:
            return _run(name, _trace, model, text, target, visitors.me(), edits)
        return _read_together(name, model, text, target)


def _read_together(name: str, model: LanguageModel, text: str, target: str) -> Trace:
    """Return the Trace of a text by a model that reads all texts that wait at the same moment in one pass."""
    from models.reading import together
    from models.reading.prefix import reading_for

    with reading_for(visitors.me()):
        request = model.request(text, target)
    if known := together.remembered(model, request):
        return known
    if not model.trial.allows(request):
        return _run(name, _trace, model, text, target, visitors.me(), ())
    return _run(name, partial(_traces, model), request, run=partial(_forwards.run_together, kind=model))


def _traces(model: LanguageModel, requests: Sequence[Request]) -> Sequence[Trace | Exception]:
    from models.reading import together

    _share_cores(model)
    return together.traces(model, requests)


def _run(name: str, work: Callable[..., Any], *given: object, run: Callable[..., T] = _forwards.run) -> T:
    """Call `Lanes.run`, or another function like it, and stop the page's run here if its visitor has left."""
    try:
        return run(name, work, *given)
    except Cancelled:
        if visitors.is_here(visitors.me()) or not visitors.is_run():
            raise
        st.stop()


def go_on(name: str, text: str, answer: str = "", report: Callable[[float, str], None] = lambda share, words: None) -> str:
    """Continue the answer of an encoder-decoder with the likeliest token each time, until the model ends it or AT_ONCE tokens are
    added. report: called with the answer so far, and may raise to stop.

    Errors: ModelError when the model cannot be had.
    """
    from models.generation.answer import answers

    with shelf.reading(name) as model:
        steps = answers(model, text, answer, AT_ONCE)
        for count in range(1, AT_ONCE + 1):
            longer: str | None = _run(name, next, steps, None)
            if longer is None:
                break
            answer = longer
            report(count / AT_ONCE, answer)
    return answer


def characters(name: str, text: str, id: int, target: str = "") -> str:
    """Return the text of a token that follows a text or a target, with the likeliest tokens that complete its character; "" if it
    is no part of a text (see `models.generation.answer.characters`).

    Errors: ModelError when the model cannot be had.
    """
    from models.generation.answer import characters

    with shelf.reading(name) as model:
        return _run(name, characters, model, text, id, target)


def next_step(name: str, text: str, target: str = "", chat: bool = False, continuation: Sequence[int] = ()) -> Step:
    """Return the greedy next step after a text, or after an encoder-decoder's target, and the tokens generated since. chat:
    whether the text is read as a turn of a chat.

    Errors: ModelError when the model cannot be loaded; ValueError, a sentence, when it does not continue texts.
    """
    with shelf.reading(name) as model:
        return _run(name, _next_step, model, text, target, chat, continuation, visitors.me())


def _next_step(model: LanguageModel, text: str, target: str, chat: bool, continuation: Sequence[int], visitor: str) -> Step:
    from models.reading.prefix import reading_for

    begun = model.generate(text, max_new_tokens=1, target=target, continuation=continuation, chat=chat)
    with reading_for(visitor), closing(begun) as steps:
        return next(steps)


def _trace(model: LanguageModel, text: str, target: str, visitor: str, edits: Sequence[Edit]) -> Trace:
    from models.reading.prefix import reading_for

    _share_cores(model)
    with reading_for(visitor):
        return model.trace(text, target, edits)


def _share_cores(model: LanguageModel) -> None:
    """Let this thread compute with one core, or with all for much work. Streamlit makes a thread for each run, and torch gives
    each new thread helpers at its first product, which cost more than they gain."""
    import torch

    torch.set_num_threads(1 if model.info.parameters < MANY else os.cpu_count() or 1)


def info(name: str) -> ModelInfo:
    """Return the facts about a model. While the writer is loading, they are those of a bare decoder, which is enough for a text
    box.
    """
    if name in shelf or name != models.names()[0]:
        return model(name).info
    from models.info import ModelInfo

    return ModelInfo(name, "decoder", 0, 0, 0, 0, 0, None, 0, "")
