"""The model picker: the requested model, the model in use, and the loading in between.

The picker's value, `state.MODEL`, is the requested model; it is in every link. The model in use differs from it only while the
requested one is loading: pages call `in_use`.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import streamlit as st

import models
from models.adapting.strength import without_strength
from models.catalog import ships
from models.errors import ModelError
from models.files.progress import Progress
from models.huggingface import names
from models.huggingface.names import is_folder_name
from models.numbers.sizes import count, size_of
from models.remote import backend
from ui import state
from ui.escaping import display_name, distinct_name, place_of, plain
from ui.memory import allowed, cached, loaded, trainings
from ui.memory.eviction import Job
from ui.state import Key

if TYPE_CHECKING:
    from models.info import ModelInfo

POLL = 0.5  # seconds between two looks at a loading
REMEMBERED = 6  # recent choices of a visitor
SHOWN = 40  # characters of a name in the side bar
CHOSEN: Key[Any] = state.MODEL.of("chosen")  # the last run's page, and the model before and after it chose what a press requested

OWN = (
    "*writer* continues English text, *filler* guesses covered words, *translator* says English sentences in French, and "
    "*sorter* tells questions from statements. Writer and filler have read stories and simple facts. *digits* reads handwritten "
    "digits."
)
READS = {
    "decoder": "reads from left to right and guesses the next token. It is a decoder",
    "encoder": "reads the whole text at once, in both directions. It is an encoder",
    "image": "reads a picture, cut into patches, all at once. It is an encoder",
    "encoder-decoder": "reads one text and writes another. It is an encoder-decoder",
}


def in_use() -> str:
    """Return the name of the model that pages show."""
    return state.IN_USE.get() or models.names()[0]


def model_has_left() -> bool:
    """Return whether the model in use was dropped from memory; then the whole page must run again."""
    return in_use() not in loaded.shelf and in_use() != models.names()[0]


def side_bar(page: str, fixed: bool = False) -> None:
    """Place the picker, and below it the progress of loading or the facts about the model in use.

    page: that the sidebar belongs to, by its name in an address. fixed: whether somebody else chooses.
    """
    choose_requested(page)
    state.LISTED.set(cached.known())
    options = choices()
    asked = st.selectbox(
        "Model",
        options,
        format_func=lambda name: label(name, options),
        key=state.MODEL.name,
        bind="query-params",
        accept_new_options=True,
        disabled=fixed,
        help=f"{OWN} Or type the name of a model on the Hugging Face Hub, such as gpt2, or the path of a folder.",
    )
    state.keep(state.MODEL, label(asked, options) if asked else None, models.names()[0])
    job = settle(full_name(normalize_name(asked or "")))
    slot = st.container(key="about-model", gap="small")
    state.ABOUT.set(slot)
    if job:
        with slot:
            wait_for(state.JOB, state.VISITOR.get(), way_out)
    elif in_use() in loaded.shelf:
        about()


def choose_requested(page: str) -> None:
    """Choose the model that a press has requested. A browser that opens another page before it has that choice sends the one that
    it had before: then it is chosen once more. (A visitor who chooses in the picker has a run of the same page.)"""
    last: tuple[str, str | None, str] | None = CHOSEN.pop()
    before = state.MODEL.get()
    if state.CHOOSE.is_set:
        CHOSEN.set((page, before, requested := state.CHOOSE.pop()))
        state.MODEL.set(requested)
    elif last and last[0] != page and before == last[1]:
        state.MODEL.set(last[2])


def normalize_name(name: str) -> str:
    """Return one name for the several ways to write it: a Hub address becomes a name, a path loses the slash at its end."""
    try:
        name = names.tidied(name.strip())
    except ModelError:  # an address of something else, which is said when it is opened
        return name
    if is_folder_name(name) and not name.startswith(("~", "\\\\")):
        name = os.path.normpath(name) if os.path.isabs(name) else os.path.join(".", os.path.normpath(name))
    return name


def choices() -> list[str]:
    """Return the models that ship, those that this visitor asked for or trained, and those in the Hub's cache."""
    mine = [name for name in (state.MODEL.get(), *state.RECENT.get()) if name]
    mine = [*map(full_name, mine), *trainings.names(keys_in_link())]
    return list(dict.fromkeys([*models.names(), *models.names("image"), *mine, *state.LISTED.get()]))


def pick_other(
    key: Key[Any], title: str, mine: str, default: str | None = None, changed: Callable[[], None] | None = None
) -> str | None:
    """Place a picker of a model other than the one in use. Return its name; "" while none is chosen; None, with a message, where
    it may not be opened. default: the model that is chosen at first."""
    before = (key.get() if key.is_set else key.in_address) or ""
    options = [name for name in dict.fromkeys([*choices(), full_name(before)]) if name and name != mine]
    asked = st.selectbox(
        title,
        options,
        index=options.index(default) if default in options else None,
        format_func=lambda name: label(name, options),
        key=key.name,
        bind="query-params",
        accept_new_options=True,
        placeholder="Its name on the Hugging Face Hub, or a folder",
        on_change=changed,
    )
    name = full_name(normalize_name(asked or ""))
    if not name or name == mine:
        return ""
    if complaint := refusal(name):
        st.warning(
            plain(f"The model “{display_name(name)}” could not be opened. {complaint}"), icon=":material/deployed_code_alert:"
        )
        return None
    return name


def keys_in_link() -> str:
    """Return the keys of trained models that are in the link."""
    return state.TRAINED.in_address or ""


def full_name(name: str) -> str:
    """Return the full name of a model; for a trained model, a link and the picker contain only the short one."""
    return trainings.full_name(name, keys_in_link())


def label(name: str, options: list[str]) -> str:
    """Return the form of a name in pickers and addresses: for a model that was trained here only its short name, unless another
    one in the list has the same."""
    if not trainings.find(name):
        return name
    return (
        distinct_name(name) if sum(display_name(option) == display_name(name) for option in options) > 1 else display_name(name)
    )


def in_address() -> dict[str, str | None]:
    """Return the entries that an address needs beside the names of the chosen models."""
    chosen = (key.get() for key in (state.MODEL, state.OTHER_MODEL, state.OTHER_TOKENIZER))
    return {state.TRAINED.name: trainings.keys(*(full_name(name) for name in chosen if name))}


def settle(asked: str) -> Job | None:
    """Use the requested model if it is in memory, else start loading it; return the job while that goes on."""
    first = models.names()[0]
    if not state.VISITOR.is_set:
        state.VISITOR.set(uuid.uuid4().hex)
    if not state.OPENED.is_set:
        state.OPENED.set({key.name: key.in_address or "" for key in (state.LAYER, state.HEAD)})
    if model_has_left():
        state.IN_USE.set(first)
    job: Job | None = state.JOB.get()
    if job and (job.name != asked or job.done):
        state.JOB.set(None)
        loaded.shelf.leave(job, state.VISITOR.get())
        if job.name == asked and job.error:
            go_back(f"The model “{display_name(asked)}” could not be opened. {job.error}")
        job = None
    if not asked or (complaint := refusal(asked)):
        go_back(f"The model “{display_name(asked)}” could not be opened. {complaint}" if asked else "")
    if asked == first or asked in loaded.shelf:
        take(asked)
        state.MODEL_CAME.set(True)
    elif not job:
        job = loaded.shelf.ask(asked, state.VISITOR.get())
        state.JOB.set(job)
    return job


def awaited_model() -> str:
    """Return the name of the model that a link asks for while it loads and no requested model was in use before; else "". The
    results of another model would then mislead."""
    job = state.JOB.get()
    return job.name if job and not state.MODEL_CAME.get() else ""


def refusal(name: str) -> str:
    """Return the reason why the visitor may not open a model; "" when they may."""
    return allowed.refusal(name, here=name in loaded.shelf)


def take(name: str) -> None:
    """Use a model that is in memory."""
    state.CHANGED.set(name != in_use())
    if name == in_use():
        return
    before = loaded.info(in_use())
    state.IN_USE.set(name)
    state.TOKEN.set(None)
    if not ships(name):
        recent = without_strength(name)  # each strength would fill the list
        state.RECENT.set([recent, *(other for other in state.RECENT.get() if other != recent)][:REMEMBERED])
    info = loaded.model(name).info
    state.READ_BEFORE.set(before)  # for `ui.choices.text_boxes`: another model reads the text
    # The layer and head of the model before mean nothing here, but those of a link do.
    favourites = {state.LAYER, state.HEAD}
    layers = max(info.numbers(), info.numbers(True), key=len)
    for key, numbers in ((state.LAYER, layers), (state.HEAD, range(max(info.heads, info.decoder_heads)))):
        asked = state.OPENED.get().pop(key.name, "")
        number = place_of(asked.removeprefix(key.name[0].upper()), numbers)
        if number is not None:
            key.set(number)
            favourites.discard(key)
        elif asked:
            state.complain(key.of("linked"), asked, f"the {key.name}")
    state.FAVOURITES_NEXT.set(favourites)


def go_back(sentence: str) -> NoReturn:
    """Return to the model in use, and say why."""
    state.ask_for_model(in_use())
    if sentence:
        state.TROUBLE.set(sentence)
    st.rerun()


def is_settled() -> bool:
    """Return whether the model in use is final, so that a link's layer and head can be checked against it."""
    return not state.JOB.get() and not state.CHANGED.get()


def show_trouble() -> None:
    """Show once why the requested model is not in use; and, as long as it holds, why models do not run where they should."""
    if sentence := state.TROUBLE.pop():
        st.warning(plain(sentence), icon=":material/deployed_code_alert:")
    if sentence := backend.trouble():
        st.warning(plain(sentence), icon=":material/cloud_off:")


def wait_for(key: state.Key[Any], visitor: str, below: Callable[[Job], None] = lambda job: None) -> None:
    """Show the progress of the loading whose job a key holds; `below` draws the rest."""

    def watch() -> None:
        job: Job | None = key.get()
        if job:
            key.set(job := loaded.shelf.look(job, visitor))
        if not job or job.done:
            st.rerun()
        doing, figures, share = in_words(job.progress)
        st.caption(f"{doing} {plain(shorten(job.name))} …")
        st.progress(share, f":small[{figures}]" if figures else None)
        below(job)

    st.fragment(watch, run_every=POLL)()


def way_out(job: Job) -> None:
    """Draw the button that cancels the loading of the requested model."""
    st.button("Cancel", key="cancel-loading", icon=":material/close:", width="stretch", on_click=cancel, args=(job,))
    if not awaited_model():
        st.caption(f"Until then, you continue with “{plain(shorten(in_use()))}”.")


def cancel(job: Job) -> None:
    """Cancel a loading, and return to the model in use in the page's next run."""
    state.JOB.set(None)
    loaded.shelf.leave(job, state.VISITOR.get())
    state.ask_for_model(in_use())
    state.TROUBLE.set(f"Loading “{display_name(job.name)}” was cancelled. You continue with “{display_name(in_use())}”.")


def in_words(progress: Progress | None) -> tuple[str, str, float]:
    """Return progress in words, in figures ("120 of 548 MB") if there are any, and as a share of one."""
    if progress is None or progress.stage == "prepare" or not progress.total:
        return "Preparing", "", 0.0
    share = min(progress.done / progress.total, 1.0)
    return "Downloading" if progress.stage == "download" else "Reading", size_of(progress.done, progress.total), share


def about() -> None:
    """Show the facts about the model in use in the place that `side_bar` left for them; a second call does nothing."""
    slot = state.ABOUT.pop()
    if slot is None or state.JOB.get():
        return
    info = loaded.model(in_use()).info
    name = plain(shorten(info.name))
    is_of_images = "image" in info.reads
    stacks = f"{info.layers} + {info.decoder_layers}" if info.decoder_layers else str(info.layers)
    if state.level() == "beginner":
        facts = (
            f"“{name}” {READS['image' if is_of_images else info.kind]} with {stacks} layers of {info.heads} heads each. "
            f"It learned {count(info.parameters)} numbers, called parameters."
        )
    else:
        shared = f" ({info.kv_heads} for keys and values)" if info.kv_heads != info.heads else ""
        context = f", at most {info.context:,} tokens at a time" if info.context else ""
        vocabulary = f"{info.vocabulary:,} tokens in its vocabulary{context}"
        vocabulary = f"{info.context:,} tokens of each picture" if is_of_images else vocabulary
        expert = state.level() == "expert"
        width = f"d\u00a0=\u00a0{info.d_model:,}" if expert else f"{info.d_model:,} numbers for each token"
        facts = (
            f"{info.kind.capitalize()}: {stacks} layers × {info.heads} heads{shared}, {width}, "
            f"{count(info.parameters)} parameters in {info.dtype}, {vocabulary}."
        )
    with slot:
        st.caption(" ".join([facts, origin(info), *(plain(note) for note in info.notes), info.numbering]).rstrip())


def origin(info: ModelInfo) -> str:
    """Return a sentence on where a model comes from. It does not name a folder, because its path is what the visitor typed."""
    if ships(info.name):
        return "It ships with Headlight."
    if trained := trainings.find(info.name):
        base = trained.base
        return f"It is {plain(display_name(base))}, as it was taught on page Adapt." if base else "It was trained on page Train."
    return "It comes from a folder." if is_folder_name(info.name) else f"It comes from the {plain(info.source)}."


def shorten(name: str) -> str:
    """Shorten a name to fit the side bar: a long path keeps its end."""
    name = name if is_folder_name(name) else display_name(name)
    return name if len(name) <= SHOWN else "…" + name[1 - SHOWN :]
