"""The switch "Compare with": another head, layer, text or model beside the one that is looked at."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from analysis.comparison import Common, compare
from pages.attention import recipes
from ui import state
from ui.choices import boxes, picker
from ui.choices.widgets import one_of
from ui.device import is_phone
from ui.look import Look
from ui.memory import loaded
from ui.memory.favourites import favourite
from ui.picture.picture import Numbers, Picture
from ui.state import Key
from ui.text import called, plain
from ui.words import say
from viz import percent
from viz.tokens import label

if TYPE_CHECKING:
    from models.language_model import ModelInfo
    from ui.memory.shelf import Job

WAYS = state.COMPARE.values
NOTHING = state.NOTHING
EASY = (NOTHING, "text", "model")  # what a beginner, who chooses no heads, can compare with
LISTED = 5  # of the largest differences


def switch(look: Look) -> str:
    """What to compare with; a link opens the same."""
    ways = EASY if look.beginner else WAYS
    way = one_of(state.COMPARE, WAYS, "the comparison", label="Compare with", offered=ways, on_change=begin)
    if way != "model":
        leave()
    return way


def chosen(look: Look) -> str:
    """What is compared with, before the switch is placed; on the first run of a page that is what the link says."""
    way = state.COMPARE.get() if state.COMPARE.held else state.COMPARE.asked
    return str(way) if way in (EASY if look.beginner else WAYS) else NOTHING


def on(look: Look) -> bool:
    """Whether something is compared."""
    return chosen(look) != NOTHING


def begin() -> None:
    """A second text begins as a copy of the first, in which one changes a word."""
    if state.COMPARE.get() == "text" and not state.written(state.OTHER_TEXT):
        boxes.change(state.OTHER_TEXT, state.written(state.TEXT))


def picture(look: Look, way: str) -> Picture | None:
    """The two and their difference; a sentence while there is no second one."""
    other = {"head": other_head, "layer": other_layer, "text": other_text, "model": other_model}[way](look)
    if other is None:
        return None
    heads = [(side.layer, None if way == "layer" else side.head) for side in (look, other)]
    same_text = way != "text"

    @cache
    def both() -> Common:
        return compare(look.scope, other.scope, heads, same_text)

    def numbers() -> dict[str, Numbers]:
        tokens = {"from": both().queries, "to": both().keys}
        arrays = {"a": both().a.weights, "b": both().b.weights, "difference": both().difference}
        return {name: Numbers(array, ("from", "to"), tokens) for name, array in arrays.items()}

    names = called_both(look, other, way)
    options = {"heads": heads, "same_text": same_text, "causal": [look.causal, other.causal], "names": names}
    options["title"] = {"text": look.head_name, "head": "", "layer": "Mean of the heads", "model": ""}[way]
    if is_phone():
        options["narrow"] = True
    return Picture(recipes.compared, (look, other), options, "heatmap", numbers, words=f"{names[0]} and {names[1]}")


def other_head(look: Look) -> Look:
    """Any head of the same model and kind of attention."""
    attention = look.attention
    left, right = st.columns(2)
    layer = numbered(left, state.OTHER_LAYER, "The other layer", attention.layers, look.layer)
    head = numbered(right, state.OTHER_HEAD, "The other head", attention.heads, (look.head + 1) % attention.heads)
    return look.at(layer, head)


def other_layer(look: Look) -> Look:
    """Another layer, all its heads together: the head of a number in one layer has nothing to do with that of another."""
    layers = look.attention.layers
    return look.at(numbered(st, state.OTHER_LAYER, "The other layer", layers, (look.layer + 1) % layers), look.head)


def other_text(look: Look) -> Look | None:
    """The same model and head on another text; an encoder-decoder reads it as the source of the same target."""
    text = boxes.one_line(state.OTHER_TEXT, "The other text", "Your text with a word changed …", labelled=True)
    if not text.strip():
        st.info("Type a second text. To see what a word does, change only that word of your own text.")
        return None
    return through(look, look.model.info.name, text, look.second, look.kind, (look.layer, look.head))


def other_model(look: Look) -> Look | None:
    """The same text through another model, and one of its heads."""
    name, mine = ask_for_model(look.model.info.name), look.model.info
    if not name:
        return None
    other = loaded.model(name)
    info = other.info
    kind = kind_like(look.kind, info)
    in_decoder = kind in ("decoder", "cross")
    layers, heads = (info.decoder_layers, info.decoder_heads) if in_decoder else (info.layers, info.heads)
    first = favourite(other, kind)
    layer, head = first.layer, first.head
    if not look.beginner:
        left, right = st.columns(2)
        layer = numbered(left, state.OTHER_LAYER, "Its layer", layers, layer)
        head = numbered(right, state.OTHER_HEAD, "Its head", heads, head)
    both_read_it = info.kind == mine.kind and (info.kind == "encoder-decoder" or info.pairs)
    return through(look, name, look.trace.text, look.second if both_read_it else "", kind, (layer, head))


def through(look: Look, name: str, text: str, second: str, kind: str, head: tuple[int, int]) -> Look:
    """Another text or another model, shown as the first is."""
    trace, model = loaded.read(name, text, second), loaded.model(name)
    if trace.cut:
        st.info(f"Of the other, only a part is shown: the first {trace.cut:,} of {len(text):,} characters do not fit.")
    return replace(look, model=model, trace=trace, kind=kind, second=second, picked=head)


def kind_like(kind: str, info: ModelInfo) -> str:
    """The attention of another model that can stand beside one of a kind. Errors: ValueError where it has none."""
    if info.kind == "encoder-decoder":
        return "encoder" if kind == "self" else kind
    if kind in ("decoder", "cross"):
        raise ValueError(
            f"“{picker.shortened(info.name)}” reads one text, so it has no {kind} attention. Choose Encoder in the side "
            "bar, or another model."
        )
    return "self"


def called_both(look: Look, other: Look, way: str) -> tuple[str, str]:
    """What the two are called in the picture: no more than what tells them apart, where that is short."""
    if way == "text":
        return "your text", "the other"
    if way == "layer":
        return look.layer_name, other.layer_name
    if way == "head":
        return look.head_name, other.head_name
    first, second = (f"{called(side.model.info.name)} {side.head_name}" for side in (look, other))
    return first, second


def numbered(place: Any, key: Key[Any], title: str, count: int, default: int) -> int:
    """A menu of layers or heads by their numbers, as the one in the side bar. The default may depend on what is chosen there:
    it is shown until one chooses another, and only that is in the link."""
    letter = key.name.removeprefix("other-")[0].upper()
    chosen = one_of(
        key, range(count), title[0].lower() + title[1:], label=title, default=None, menu=True,
        written=lambda number: f"{letter}{number}", place=place, placeholder=f"{letter}{default}",
    )  # fmt: skip
    return default if chosen is None else chosen


def ask_for_model(mine: str) -> str:
    """The name of a model that is here, other than the one in use; "" while there is none, and says why."""
    name = picker.another(state.OTHER_MODEL, "The other model", mine, changed=ask_again)
    if name == "":
        leave()
        st.info(
            "Choose a second model. It reads the same text, and the tokens of both are joined until they end at the same places."
        )
    if not name:
        return ""
    if name in loaded.shelf:
        leave()
        state.OTHER_HAD.set((mine, name))
        return name
    load(mine, name)
    return ""


def load(mine: str, name: str) -> None:
    """Have a model loaded, and show how far that is; nobody waits for it. What failed is not tried again by itself."""
    job: Job | None = state.OTHER_JOB.get()
    if job and job.name != name:
        leave()
        job = None
    if job and job.done:
        leave()
        state.OTHER_TROUBLE.set(job.error or "")
    if trouble := state.OTHER_TROUBLE.get():
        st.warning(plain(f"The model “{called(name)}” could not be opened. {trouble}"), icon=":material/deployed_code_alert:")
        st.button("Try again", on_click=ask_again, key="other-again")
        return
    if state.OTHER_HAD.get() == (mine, name):  # it was here and had to leave: the two may not fit together
        st.info("The other model had to leave the memory, because somebody else asked for another one.")
        st.button("Load it again", on_click=ask_again, key="other-again")
        return
    state.OTHER_JOB.set(loaded.shelf.ask(name, visitor()))
    picker.wait_for(state.OTHER_JOB, visitor())


def ask_again() -> None:
    """Forget what went wrong with the model before."""
    state.OTHER_TROUBLE.pop()
    state.OTHER_HAD.pop()


def leave() -> None:
    """Nobody here waits for the other model any more."""
    if job := state.OTHER_JOB.pop():
        loaded.shelf.leave(job, visitor())


def visitor() -> str:
    """Who waits, told apart from the one who waits for the model in use: that may be the same model."""
    return state.VISITOR.get() + " compares"


def in_words(folder: Path, comparison: Picture) -> None:
    """What the two have in common and how they differ, each number from these weights."""
    st.markdown("##### In words")
    first, second = comparison.looks
    both = compare(first.scope, second.scope, comparison.options["heads"], comparison.options["same_text"])
    facts = {"first": plain(comparison.options["names"][0]), "second": plain(comparison.options["names"][1])}
    facts["moved"] = percent(both.moved)
    say(folder, f"compare {state.COMPARE.get()}", **facts)
    if largest := both.largest(LISTED):
        say(folder, "compare largest")
        st.caption("\n".join(f"- {sentence}" for sentence in (line(both, *at) for at in largest)))
    else:
        say(folder, "compare same")
    for half, name in zip((both.a, both.b), comparison.options["names"], strict=True):
        if half.left_out:
            say(folder, "compare left out", name=plain(name), tokens=listed(half.left_out), share=percent(half.share))


def line(both: Common, query: int, key: int) -> str:
    """One difference: from where to where, and both weights."""
    a, b = (float(half.weights[query, key]) for half in (both.a, both.b))
    return f"{which(both.queries, query)} → {which(both.keys, key)}: **{percent(a)}** and **{percent(b)}**"


def which(names: list[str], place: int) -> str:
    """A token by its name, and by its place where others have the same."""
    again = f" ({place})" if list(names).count(names[place]) > 1 else ""
    return f"“{plain(label(names[place]))}”{again}"


def listed(tokens: list) -> str:
    """Tokens in a sentence, a few of them."""
    few = ", ".join(f"“{plain(label(token.text))}”" for token in tokens[:LISTED])
    return f"{few} and {len(tokens) - LISTED:,} more" if len(tokens) > LISTED else few
