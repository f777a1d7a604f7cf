"""The text boxes: the text, and for models that read two texts a second box below."""

from __future__ import annotations

import re
from math import inf
from typing import TYPE_CHECKING

import streamlit as st

import models
from models.catalog import ships
from models.huggingface.names import quoted
from models.images.written import parse
from models.reading.languages import in_language, language_of
from ui import state
from ui.choices import examples as guides
from ui.choices.widgets import switch
from ui.escaping import BREAK, plain
from ui.live import visits
from ui.memory import limits, loaded, pictures, trainings
from ui.state import Key

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from models.info import ModelInfo
    from models.language_model import LanguageModel
    from models.tokens import Token
    from models.trace import Trace

EXAMPLES = {  # by the name of a model that ships, or else by kind
    "decoder": (
        state.DEFAULT_TEXT,
        "The capital of France is",
        "The farmer gave the hungry dog a bone, and the dog ran into the",
        "Once upon a time there was a little girl who lived in the",
        "The cat sat on the",
        "Tom gave Anna a red ball. Anna thanked Tom and threw the red",
        '"Where have you been?" asked the old woman. "I have been to',
        "It was a cold night, and the snow lay deep upon the",
    ),
    "encoder": (
        "The farmer gave the hungry dog a MASK, and the dog ran into the garden.",
        "Paris is the capital of MASK.",
        "The MASK barked all night, and nobody in the street could sleep.",
        "The trophy did not fit into the suitcase because the MASK was too big.",
        "She poured the tea into a MASK and drank it slowly.",
    ),
    "encoder-decoder": (
        "The farmer gave the hungry dog a bone.",
        "translate English to German: The house at the end of the street is very old.",
        "translate English to French: I have never seen the sea.",
        "summarize: The old gardener opened the gate, and the dog that had waited all morning ran past him into the street.",
    ),
    "classifier": (
        "What a lovely evening: the food was good, and everybody laughed.",
        "The film was far too long, and I nearly fell asleep.",
        "Anna Schmidt lives in Berlin and works for the city library.",
        "I have waited for three weeks, and nobody answers my letters.",
        "The train to Paris leaves at nine.",
    ),
    "filler": (
        "Once upon a MASK, there was a little girl.",
        "The capital of France is MASK.",
        "He opened the MASK and went out into the garden.",
        "She poured the tea into a MASK and drank it slowly.",
        "The bird flew to the top of the MASK.",
        "He could not see, for his MASK were closed.",
        "Tom has a red ball. Anna wants the red MASK.",
    ),
    "translator": (
        "The black cat is sleeping under the table.",
        "I am tired.",
        "My name is Anna and I live in Nairobi.",
        "Where is the station?",
        "She gave him a book.",
        "I don't want to go to school.",
        "We have never seen the sea.",
    ),
    "image": tuple(f"digit {digit}" for digit in (3, 0, 1, 2, 4, 5, 6, 7, 8, 9)),
    "photo": ("photo flower", "photo temple", "digit 3"),
    "sorter": (  # without a sign at the end, which tells it nothing
        "Where is the black cat",
        "Here is the black cat",
        "I do not know where the station is",
        "Did the dog see the cat",
        "Have a seat",
        "Have you seen my keys",
        "You like tea, don't you",
    ),
}
FIRST = {  # that nobody typed
    state.DEFAULT_TEXT,
    EXAMPLES["filler"][0].replace("MASK", "[MASK]"),
    EXAMPLES["translator"][0],
    EXAMPLES["sorter"][0],
}
LONGEST = 100_000  # characters that a box holds: about fifty for each token that is read of a text
GO_ON = "The model continues this answer, each time with the token that it finds most likely, until it ends the answer itself."
CUT_BEFORE = (
    219_999  # 16-bit units: a text of so many has perhaps been cut in the browser already (see `cutLongTexts` in document.js)
)
PAUSE = "0ms"  # send each change at once: a fragment answers within a frame or two
REST = "400ms"  # send what is typed when it rests: the line answers each key (see `ui.live`)


def write(info: ModelInfo, answers: bool = True, pause: str = PAUSE) -> tuple[str, str, DeltaGenerator]:
    """Place the boxes that a model needs. Return the text, the second text ("" where there is none), and the place below the
    boxes for messages. answers: add a button by which the model continues its answer; pause: the time before a change is sent."""
    if before := state.READ_BEFORE.pop():
        follow(before, info)
    if "image" in info.reads:
        return one_line(state.TEXT, "The name of the picture", "", pause), "", st.container()
    text = one_line(state.TEXT, "Your text", "Type something …", pause)
    second = ""
    if info.kind == "encoder-decoder" and not info.labels:
        wraps = bool(info.languages)
        with st.container(key="answer-box", horizontal=True, vertical_alignment="bottom", gap="small", wrap=wraps):
            second = one_line(state.TARGET, "The answer so far", "Leave it empty, or begin it …", pause, labelled=True)
            if info.languages:
                language(state.TEXT, "From", info)
                language(state.TARGET, "To", info)
            if answers:
                st.button("Go on", icon=":material/play_arrow:", on_click=go_on, args=(info,), help=GO_ON)
    elif info.pairs and state.TWO_TEXTS.get():
        second_hint = "A second text, which the model reads together with the first …"
        second = one_line(state.TARGET, "Your second text", second_hint, pause)
    below = st.container()  # where nothing is said too: what follows keeps its place, and a press in it is answered
    with below:
        for key, box_text in ((state.TEXT, text), (state.TARGET, second)):
            say_what_is_left_out(key, box_text)
    return text, second, below


def example_menu(info: ModelInfo) -> None:
    """Place a menu of examples beside the heading, where typing does not change it, so a key press does not send it again."""
    st.menu_button(
        "Examples",
        [*guides.for_menu(info), *examples(info)],
        key=state.EXAMPLE.name,
        type="tertiary",
        icon=":material/lightbulb:",
        on_click=take_example,
        args=(info,),
        format_func=lambda example: plain(example) if isinstance(example, str) else guides.as_markdown(example),
    )


def examples(info: ModelInfo) -> list[str]:
    """Return texts that suit a model; for a model that was trained here, examples of its task."""
    if own := trainings.examples(info.name):
        return own
    return [example.replace("MASK", info.mask or "…") for example in EXAMPLES.get(info.name, EXAMPLES[group_of(info)])]


def group_of(info: ModelInfo) -> str:
    """Return the group of examples for a model that has none of its own."""
    if "image" in info.reads:
        return "image" if ships(info.name) else "photo"
    return "classifier" if info.labels else info.kind


def side_bar(info: ModelInfo) -> None:
    """Place the switch for a second text, if the model can read two."""
    if info.pairs and state.level() != "beginner":
        switch(state.TWO_TEXTS, "Two texts", place=st.sidebar, help="This model can read a pair of texts.")


def one_line(key: Key[str], label: str, placeholder: str, pause: str = PAUSE, labelled: bool = False) -> str:
    """Place a box for a text, in which ↵ stands for a line break. Its content stays when the page changes; return it."""
    if key.of("next").is_set:  # set before the widget is placed, which is the only time that Streamlit allows
        change(key, key.of("next").pop())
    last = key.of("last").get() if key.of("last").is_set else key.default
    was_written = key.of("meant").pop()
    if not was_written and last != key.default and key.in_address is None:
        key.set(last)  # another page, or the browser's way back, brought the default
    is_long = len(state.box_text(key)) > state.LINKED  # a server refuses an address that is longer than about 64 KB
    if is_long != bool(key.of("long").get()):
        key.of("long").set(is_long)
        state.TYPING.set(False)  # only from now on, or no longer, Streamlit puts by itself into the address what is typed
    text = st.text_input(
        label,
        value=key.default,
        key=key.name,
        bind=None if is_long else "query-params",
        live=pause,
        label_visibility="visible" if labelled else "collapsed",
        placeholder=placeholder,
        autocomplete="off",
        on_change=on_typing,
        args=(key,),
    )
    if re.search(r"[\r\n]", text or ""):  # out of a link: the box would drop the line break and join the words
        key.of("next").set(text)
        st.rerun()
    if len(text or "") > (
        limit := character_limit()
    ):  # Streamlit's own limit would take nothing of what is pasted, without a word
        key.of("next").set(text[-limit:])
        was_cut_before = len(text.encode("utf-16-le", "surrogatepass")) // 2 >= CUT_BEFORE
        key.of("left-out").set(inf if was_cut_before else len(text) - limit)
        st.rerun()
    key.of("last").set(text or "")
    visits.settle(key, text or "")
    return (text or "").replace(BREAK, "\n")


def current_text(key: Key[str]) -> str:
    """Return the content of a box in this run, before it is placed."""
    if key.of("next").is_set or key.is_set:
        return key.of("next").get() or state.box_text(key)
    return key.in_address if key.in_address is not None else key.of("last").get() or key.default


def second_text() -> str:
    """Return the text in the second box; "" where there is none."""
    return state.box_text(state.TARGET).replace(BREAK, "\n")


def character_limit() -> int:
    """Return how many characters a box may hold on this server."""
    return max(1, min(LONGEST, limits.characters() or LONGEST))


def say_what_is_left_out(key: Key[str], text: str) -> None:
    """Say what happened to a long text: the box cut its beginning, or the address does not contain it."""
    left_out, sentences = key.of("left-out").get() or 0, []
    if left_out and len(text) == (most := character_limit()):
        part = f"all but the last {most:,}" if left_out == inf else f"the first {left_out:,}"
        sentences.append(f"The box holds at most {most:,} characters, so {part} of your text are left out.")
    if len(text) > state.LINKED:
        sentences.append(
            f"A link carries at most {state.LINKED:,} characters, so this text is not in the address: "
            "to share it, send the text together with the link."
        )
    if sentences:
        st.info(" ".join(sentences), icon=":material/content_cut:")


def on_typing(key: Key[str]) -> None:
    """Forget the words under masks, and clear an answer that the model gave to the old text."""
    state.COVERED.set([])
    state.TYPING.set(True)
    if key == state.TEXT and second_text() and second_text() == state.SAID.get():
        change(state.TARGET, "")
    remember(key, state.box_text(key))


def change(key: Key[str], text: str) -> None:
    """Write into a box."""
    visits.forget_typed(key)
    key.set(re.sub(r"\r\n|\r|\n", BREAK, text))
    remember(key, key.get())


def remember(key: Key[str], text: str) -> None:
    """Remember the text of a box at once: another page may be opened before a run places the box."""
    key.of("last").set(text)
    key.of("meant").set(True)


def offer(text: str, name: str) -> bool:
    """Write a text that suits only this model into the box, unless somebody typed there; return whether it was written."""
    current, offered = state.box_text(state.TEXT), state.OFFERED.get()[0]
    if current and current not in {offered, *FIRST, *(example for each in EXAMPLES.values() for example in each)}:
        return False
    state.OFFERED.set((text, name))
    change(state.TEXT, text)
    return True


def follow(before: ModelInfo, after: ModelInfo) -> None:
    """Adapt the boxes to another model: its own mask replaces the other's, or the covered words come back.

    A model's initial text is replaced by the next model's, if one of them has a text of its own.
    """
    if state.LESSON_MODEL.pop() == after.name:  # the step that asked for it has written into both
        for key in (state.TEXT, state.TARGET):
            key.of("next").set(key.of("last").get())
        return
    if before.kind != after.kind:
        state.TARGET.of("next").set("")
    if before.reads != after.reads and not names_input_of(after):
        state.TEXT.of("next").set(examples(after)[0])
        return
    text, covered = (state.TEXT.get() if state.TEXT.is_set else None), state.COVERED.get()
    if text is None:  # the box is not placed yet: its text is that of the link
        text = state.DEFAULT_TEXT if state.TEXT.in_address is None else state.TEXT.in_address
    offered, offered_for = state.OFFERED.get()
    was_offered_elsewhere = text and text == offered and after.name != offered_for
    if was_offered_elsewhere or (
        text in FIRST and ({before.name, after.name} & EXAMPLES.keys() or trainings.examples(after.name))
    ):
        state.TEXT.of("next").set(examples(after)[0])
        if before.kind != after.kind:
            state.TARGET.of("next").set(answer(after, examples(after)[0]))
        return
    if not before.mask or before.mask == after.mask or before.mask not in text:
        return
    parts = text.split(before.mask)
    if after.mask and not after.labels:
        words = [after.mask] * (len(parts) - 1)
    else:
        words = covered if len(covered) == len(parts) - 1 and all(covered) else [before.mask] * (len(parts) - 1)
        state.COVERED.set([])
    state.TEXT.of("next").set("".join(a + b for a, b in zip(parts, [*words, ""], strict=True)))


def names_input_of(info: ModelInfo) -> bool:
    """Return whether the text in the box, perhaps of a link, is what a model reads: the name of a picture, or a text."""
    text = state.TEXT.get() if state.TEXT.is_set else state.TEXT.in_address or ""
    return ("image" in info.reads) != (parse(text).is_file and not pictures.is_own(text))


def take_example(info: ModelInfo) -> None:
    example = state.EXAMPLE.get()
    state.WELCOME.set(False)
    if isinstance(example, guides.Example):
        return guides.open_example(example)
    state.TOKEN.set(None)
    change(state.TEXT, example)
    state.COVERED.set([])
    if state.TARGET.is_set:
        change(state.TARGET, answer(info, example))


def answer(info: ModelInfo, text: str) -> str:
    """Return our translator's answer to an example, so that there is something to see; "" for other models."""
    if info.kind != "encoder-decoder" or info.name not in models.names() or text not in examples(info):
        return ""
    state.SAID.set(loaded.go_on(info.name, text))
    return state.SAID.get()


def language(key: Key[str], label: str, info: ModelInfo) -> None:
    """Place a menu of a translator's languages. The choice is written at the front of the text, where it can also be typed."""
    menu = key.of("language")
    menu.set(language_of(state.box_text(key), info.languages)[0])
    st.selectbox(
        label,
        ("", *info.languages),
        key=menu.name,
        on_change=lambda: change(key, in_language(state.box_text(key), menu.get(), info.languages)),
        format_func=lambda code: code or "not chosen",
        width=140,
    )


def go_on(info: ModelInfo) -> None:
    """Let the model continue the answer in the box."""
    before = second_text()
    longer = loaded.go_on(info.name, state.box_text(state.TEXT).replace(BREAK, "\n"), before)
    if longer == before:
        st.toast("The model finds it most likely that the answer ends here.", icon=":material/stop_circle:")
    else:
        state.SAID.set(longer)
        change(state.TARGET, longer)


def append(token: str, key: Key[str] = state.TEXT) -> None:
    """Add a token's text to the text in a box."""
    before = state.box_text(key)
    change(key, before + (token if before else token.lstrip(" ")))


def cut_after(token: Token, key: Key[str]) -> None:
    """Delete the text after a token, which is then the newest and no longer selected. A notice says what is gone."""
    before = state.box_text(key)
    if gone := before[token.end :].strip():
        st.toast(f"{plain(quoted(gone))} is gone, because the guess follows an earlier token.", icon=":material/content_cut:")
    change(key, before[: token.end])
    state.TOKEN.set(None)


def cover(model: LanguageModel, trace: Trace, position: int) -> None:
    """Put the mask in the place of a token; at a mask, put back the word that it covers."""
    token, masks = trace.tokens[position], model.places(trace)
    key = state.TARGET if token.segment else state.TEXT
    covered = [*state.COVERED.get()][: len(masks)]
    covered += [""] * (len(masks) - len(covered))
    if position in masks:
        before = covered.pop(masks.index(position))
        if not before:
            st.toast("Press one of the guesses to put it in the place of the mask.", icon=":material/touch_app:")
            return
        put(token, key, before)
    elif token.start < token.end:
        text = state.box_text(key)
        covered.insert(sum(mask < position for mask in masks), text[token.start : token.end].strip())
        put(token, key, model.info.mask)
    state.COVERED.set(covered)


def fill(model: LanguageModel, trace: Trace, position: int, text: str) -> None:
    """Put a prediction in the place of a mask."""
    token, masks = trace.tokens[position], model.places(trace)
    covered = [*state.COVERED.get()]
    if len(covered) == len(masks):
        del covered[masks.index(position)]
        state.COVERED.set(covered)
    put(token, state.TARGET if token.segment else state.TEXT, text)


def put(token: Token, key: Key[str], new: str) -> None:
    """Replace a token by other text; the space before it stays, and a continuation ("##ing") joins the word before it."""
    text = state.box_text(key)
    before, old, after = text[: token.start], text[token.start : token.end], text[token.end :]
    space = old[: len(old) - len(old.lstrip())]
    if new.startswith("##"):
        before, space, new = before.rstrip(), "", new[2:]
    change(key, before + space + new.strip() + after)
