"""The switch "Compare with": another head, layer, text or model beside the chosen one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from analysis.comparison import Common, compare
from pages.attention import recipes
from pages.attention import state as page_state
from ui import state
from ui.choices import picker, text_boxes
from ui.choices.widgets import one_of
from ui.device import is_phone
from ui.escaping import display_name, plain
from ui.look import Look
from ui.memory import loaded
from ui.memory.favourites import favourite
from ui.picture.picture import Numbers, Picture
from ui.state import Key
from ui.words import say
from viz import percent
from viz.tokens import label

if TYPE_CHECKING:
    from models.info import ModelInfo
    from ui.memory.eviction import Job

WAYS = page_state.COMPARE.values
NOTHING = page_state.NOTHING
LISTED = 5  # the largest differences in words
HELP = "Puts the attention of another text, or of another model, beside this one, and shows where the two differ."


def switch() -> str:
    """Place the switch, and return the kind of comparison; the choice is in the link."""
    way = one_of(page_state.COMPARE, WAYS, "the comparison", label="Compare with", on_change=begin, help=HELP)
    if way != "model":
        leave()
    return way


def chosen_way(look: Look) -> str:
    """Return the kind of comparison before the switch is placed; on the first run of a page it is the link's choice.
    Beginners compare nothing."""
    way = page_state.COMPARE.get() if page_state.COMPARE.is_set else page_state.COMPARE.in_address
    return str(way) if way in WAYS and not look.beginner else NOTHING


def is_on(look: Look) -> bool:
    """Return whether something is compared."""
    return chosen_way(look) != NOTHING


def reads_another(look: Look) -> bool:
    """Return whether another text or model is compared, so that tokens must be aligned."""
    return chosen_way(look) in ("text", "model")


def begin() -> None:
    """Fill the second text with a copy of the first, in which the user changes a word."""
    if page_state.COMPARE.get() == "text" and not state.box_text(state.OTHER_TEXT):
        text_boxes.change(state.OTHER_TEXT, state.box_text(state.TEXT))


def picture(look: Look, way: str) -> Picture | None:
    """Return the picture of both attentions and their difference; None, with a sentence, while there is no second one."""
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

    names = names_of_both(look, other, way)
    options = {"heads": heads, "same_text": same_text, "causal": [look.causal, other.causal], "names": names}
    options["title"] = {"text": look.head_name, "head": "", "layer": "Mean of the heads", "model": ""}[way]
    if is_phone():
        options["narrow"] = True
    return Picture(recipes.comparison_figure, (look, other), options, "heatmap", numbers, words=f"{names[0]} and {names[1]}")


def other_head(look: Look) -> Look:
    """Return the look at any head of the same model and kind of attention."""
    attention = look.attention
    left, right = st.columns(2)
    layer = number_menu(left, page_state.OTHER_LAYER, "The other layer", attention.numbers, look.layer)
    head = number_menu(right, page_state.OTHER_HEAD, "The other head", range(attention.heads), (look.head + 1) % attention.heads)
    return look.at(layer, head)


def other_layer(look: Look) -> Look:
    """Return the look at another layer, all its heads together: heads of different layers have only their number in common."""
    numbers = look.attention.numbers
    return look.at(
        number_menu(st, page_state.OTHER_LAYER, "The other layer", numbers, (look.layer + 1) % len(numbers)), look.head
    )


def other_text(look: Look) -> Look | None:
    """Return the look at another text, by the same model and head; an encoder-decoder reads it as the source of the same
    target."""
    text = text_boxes.one_line(state.OTHER_TEXT, "The other text", "Your text with a word changed …", labelled=True)
    if not text.strip():
        st.info("Type a second text. To see what a word does, change only that word of your own text.")
        return None
    return read_beside(look, look.model.info.name, text, look.second, look.kind, (look.layer, look.head))


def other_model(look: Look) -> Look | None:
    """Return the look at the same text through another model, and at one of its heads."""
    name, own = ask_for_model(look.model.info.name), look.model.info
    if not name:
        return None
    other = loaded.model(name)
    info = other.info
    kind = kind_like(look.kind, info)
    in_decoder = kind in ("decoder", "cross")
    layers, heads = info.numbers(in_decoder), range(info.decoder_heads if in_decoder else info.heads)
    first = favourite(other, kind)
    left, right = st.columns(2)
    layer = number_menu(left, page_state.OTHER_LAYER, "Its layer", layers, first.layer)
    head = number_menu(right, page_state.OTHER_HEAD, "Its head", heads, first.head)
    both_read_it = info.kind == own.kind and (info.kind == "encoder-decoder" or info.pairs)
    return read_beside(look, name, look.trace.text, look.second if both_read_it else "", kind, (layer, head))


def read_beside(look: Look, name: str, text: str, second: str, kind: str, head: tuple[int, int]) -> Look:
    """Return the look at another text or through another model, with the options of the first."""
    trace, model = loaded.read(name, text, second), loaded.model(name)
    if trace.cut:
        st.info(f"The other side shows only the end of its text: the first {trace.cut:,} of {len(text):,} characters do not fit.")
    return replace(look, model=model, trace=trace, kind=kind, second=second, picked=head)


def kind_like(kind: str, info: ModelInfo) -> str:
    """Return the kind of another model's attention to compare with `kind`. Errors: ValueError where it has none."""
    if info.kind == "encoder-decoder":
        return "encoder" if kind == "self" else kind
    if kind in ("decoder", "cross"):
        raise ValueError(
            f"“{picker.shorten(info.name)}” reads one text, so it has no {kind} attention. Choose Encoder in the side "
            "bar, or another model."
        )
    return "self"


def names_of_both(look: Look, other: Look, way: str) -> tuple[str, str]:
    """Return the names of both in the picture: only the parts that differ, if these are short."""
    if way == "text":
        return "your text", "the other"
    if way == "layer":
        return look.layer_name, other.layer_name
    if way == "head":
        return look.head_name, other.head_name
    first, second = (f"{display_name(side.model.info.name)} {side.head_name}" for side in (look, other))
    return first, second


def number_menu(place: Any, key: Key[Any], title: str, numbers: Sequence[int], default: int) -> int:
    """Place a menu of layers or heads by their numbers, as the one in the side bar, and return the index of the chosen one. The
    default may depend on the choice in the side bar, so the link has only another choice."""
    letter = key.name.removeprefix("other-")[0].upper()
    chosen_way = one_of(
        key,
        range(len(numbers)),
        title[0].lower() + title[1:],
        label=title,
        default=None,
        menu=True,
        format_option=lambda index: f"{letter}{numbers[index]}",
        place=place,
        placeholder=f"{letter}{numbers[default]}",
    )
    return default if chosen_way is None else chosen_way


def ask_for_model(own_name: str) -> str:
    """Return the name of a loaded model other than the one in use; "" while there is none, with the reason."""
    name = picker.pick_other(state.OTHER_MODEL, "The other model", own_name, changed=ask_again)
    if name == "":
        leave()
        st.info(
            "Choose a second model. It reads the same text. Where the two split it differently, tokens are joined until "
            "both end at the same place."
        )
    if not name:
        return ""
    if name in loaded.shelf:
        leave()
        page_state.OTHER_HAD.set((own_name, name))
        return name
    load(own_name, name)
    return ""


def load(own_name: str, name: str) -> None:
    """Load a model in the background, with its progress on screen. A failed load is not repeated automatically."""
    job: Job | None = page_state.OTHER_JOB.get()
    if job and job.name != name:
        leave()
        job = None
    if job and job.done:
        leave()
        page_state.OTHER_TROUBLE.set(job.error or "")
    if trouble := page_state.OTHER_TROUBLE.get():
        st.warning(
            plain(f"The model “{display_name(name)}” could not be opened. {trouble}"), icon=":material/deployed_code_alert:"
        )
        st.button("Try again", on_click=ask_again, key="other-again")
        return
    if page_state.OTHER_HAD.get() == (own_name, name):  # it was here and had to leave: the two may not fit together
        st.info("The other model was removed from memory, because somebody else opened another one.")
        st.button("Load it again", on_click=ask_again, key="other-again")
        return
    page_state.OTHER_JOB.set(loaded.shelf.ask(name, visitor()))
    picker.wait_for(page_state.OTHER_JOB, visitor())


def ask_again() -> None:
    """Forget that the other model could not be loaded, or was dropped."""
    page_state.OTHER_TROUBLE.pop()
    page_state.OTHER_HAD.pop()


def leave() -> None:
    """Stop waiting for the other model."""
    if job := page_state.OTHER_JOB.pop():
        loaded.shelf.leave(job, visitor())


def visitor() -> str:
    """Return the name under which this visitor waits for the other model, which may be the model in use too."""
    return state.VISITOR.get() + " compares"


def place_words(folder: Path, comparison: Picture) -> None:
    """Place sentences on the common parts and the differences of both, with numbers from these weights."""
    st.markdown("##### In words")
    first, second = comparison.looks
    both = compare(first.scope, second.scope, comparison.options["heads"], comparison.options["same_text"])
    facts = {"first": plain(comparison.options["names"][0]), "second": plain(comparison.options["names"][1])}
    facts["moved"] = percent(both.moved)
    say(folder, f"compare {page_state.COMPARE.get()}", **facts)
    if largest := both.largest(LISTED):
        say(folder, "compare largest")
        st.caption("\n".join(f"- {sentence}" for sentence in (line(both, *at) for at in largest)))
    else:
        say(folder, "compare same")
    for half, name in zip((both.a, both.b), comparison.options["names"], strict=True):
        if half.left_out:
            say(folder, "compare left out", name=plain(name), tokens=token_list(half.left_out), share=percent(half.share))


def line(both: Common, query: int, key: int) -> str:
    """Return a difference in words: query, key, and both weights."""
    a, b = (float(half.weights[query, key]) for half in (both.a, both.b))
    return f"{token_name(both.queries, query)} → {token_name(both.keys, key)}: **{percent(a)}** and **{percent(b)}**"


def token_name(names: list[str], place: int) -> str:
    """Return the name of a token, with its position where other tokens have the same."""
    position = f" ({place})" if list(names).count(names[place]) > 1 else ""
    return f"“{plain(label(names[place]))}”{position}"


def token_list(tokens: list) -> str:
    """Return the names of a few tokens for a sentence."""
    few = ", ".join(f"“{plain(label(token.text))}”" for token in tokens[:LISTED])
    return f"{few} and {len(tokens) - LISTED:,} more" if len(tokens) > LISTED else few
