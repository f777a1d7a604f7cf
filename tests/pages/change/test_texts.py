"""Experiment "Two texts": ready pairs that work, clicks and their sentences, links, and questions that cannot be asked."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import streamlit

import models
from analysis import patching
from analysis.patches import DIRECTIONS, Patches
from pages.change import state as page_state
from pages.change.texts import choose, figures, pairs
from tests.grids import grid
from tests.pages.held import Held
from tests.pages.opening import finish, is_at_work, open_link, words_on
from tests.pages.taking import offered
from tests.serving import ROOT
from ui import state
from ui.lexicon.marks import sections
from ui.memory import loaded
from viz import percent

LONG = 60  # seconds; a test that waits so long has failed
HERS, HIS = "The girl was tired, so", "The boy was tired, so"
LINK = "experiment=Two+texts&text=The+girl+was+tired,+so&other-text=The+boy+was+tired,+so"
READY = [(name, pair) for name in models.names() for pair in pairs.known(models.load(name).info)]


@pytest.mark.parametrize(
    ("name", "pair"),
    grid(READY, list({name: (name, pair) for name, pair in READY}.values())),
    ids=lambda value: value if isinstance(value, str) else value.clean[:20],
)
def test_in_a_ready_pair_another_answer_comes_and_the_words_that_differ_bring_it_back(name, pair):
    """An early place changes the answer too, not only a place next to the answer, which always does."""
    model = models.load(name)
    clean, corrupt = model.traces([pair.clean, pair.corrupt], targets=pair.target)
    places = list(range(len(clean.target))) or model.places(clean)
    apart = [Patches(model, clean, corrupt, position=place).logs for place in places]
    position = places[int(np.argmax([np.abs(np.exp(logs["clean"]) - np.exp(logs["corrupt"])).sum() for logs in apart]))]
    for direction in DIRECTIONS:
        patches = Patches(model, clean, corrupt, direction, position=position)
        token, other = patches.answers()
        assert (token, other) == tuple(int(logs.argmax()) for logs in patches.logs.values()), "each text has an answer of its own"
        effects = patches.effects("stream")[:-1]
        differing = [
            at
            for at, counterpart in patches.places.items()
            if patches.tokens(patches.base)[at].id != patches.tokens(patches.source)[counterpart].id
        ]
        assert np.nanmax(effects[:2, differing]) > 0.4, "in the first layers it is the word that differs"
        assert np.nanmax(np.delete(effects[:2], differing, 1)) < 0.25


@pytest.mark.thorough
def test_there_is_a_ready_pair_for_what_each_model_begins_with():
    for name in (name for name in models.names() if models.load(name).info.predicts):
        app = open_link("change", f"experiment=Two+texts&level=intermediate&model={name}")
        assert not app.info and "come back?" in text_on_board(app)


@pytest.mark.thorough
def test_a_copy_of_the_text_that_nobody_touched_gives_way_to_the_ready_pair_of_the_model_that_comes():
    """While a link's model loads, the writer is in use, which has no such pair."""
    pair = pairs.known(loaded.model("filler").info)[2]
    for touched, expected in ((None, pair.corrupt), (pair.clean.replace("sad", "old"), pair.clean.replace("sad", "old"))):
        app = open_link("change", f"experiment=Two+texts&level=intermediate&text={pair.clean.replace(' ', '+')}")
        box = app.text_input(key="other-text")
        assert box.value != pair.clean, "the writer offers a changed word"
        if touched:
            box.set_value(touched).run()
        finish(app.selectbox(key="model").set_value("filler").run())
        assert app.text_input(key="other-text").value == expected


def text_on_board(app) -> str:
    """Return all words of the boards, which are not elements of Streamlit."""
    return "".join(str(component.proto) for component in app.get("bidi_component"))


CELLS = [*product(page_state.TEXTS_PART.values, state.LEVELS[1:])]


@pytest.mark.parametrize(("part", "level"), grid(CELLS, CELLS[::3]))
def test_the_map_is_the_analysis_and_the_bars_are_the_patched_run(monkeypatch, level, part):
    pictures = offered(monkeypatch, "change", f"{LINK}&level={level}&texts-cell=2.2&texts-part={part}")
    drawn, model = pictures["change-texts map"], models.load("writer")
    name = {"feed-forward": "feedforward", "heads": "head"}.get(part, part)
    np.testing.assert_allclose(drawn.numbers()["effect"].values, patching(model, HERS, HIS, name), atol=1e-4)
    patches = Patches(model, *model.traces([HERS, HIS]))
    after = np.exp(patches.read([patches.edits(name)[2, 2]])[0])
    bars = pictures["change-texts base"].numbers()
    ids = [next(id for id in range(8192) if model.token_text(id) == text) for text in bars["with the piece"].names["token"]]
    np.testing.assert_allclose(bars["with the piece"].values, after[ids], rtol=1e-3, atol=1e-7)
    np.testing.assert_allclose(bars["without"].values, np.exp(patches.logs["corrupt"])[ids], rtol=1e-3, atol=1e-7)
    source = pictures["change-texts source"].numbers()["probability"].values
    np.testing.assert_allclose(source, np.exp(patches.logs["clean"])[ids], rtol=1e-3, atol=1e-7)


def test_a_sentence_says_where_the_answer_moves(monkeypatch):
    """In the stream of the ready pair, the word that differs has the answer up to a layer, and then the last token."""
    link = "experiment=Two+texts&level=intermediate&text=Tom+had+a+ball,+and+his+dog+ran+after+the"
    app = open_link("change", f"{link}&other-text=Tom+had+a+cat,+and+his+dog+ran+after+the")
    model = models.load("writer")
    texts = [f"Tom had a {word}, and his dog ran after the" for word in ("ball", "cat")]
    clean, leaders = model.trace(texts[0]), patching(model, *texts).argmax(1)
    (moves,) = np.flatnonzero(np.diff(leaders))
    assert [clean.tokens[at].text for at in (leaders[0], leaders[-1])] == [" ball", " the"]
    sentence = f"after layer {moves - 1} it is at “ball”, in place of “cat”, and after layer {moves} at “the”"
    assert sentence in text_on_board(app).replace("\\342\\200\\234", "“").replace("\\342\\200\\235", "”")


@pytest.mark.thorough
def test_each_measure_and_direction_of_a_link_is_that_of_the_analysis(monkeypatch):
    for into, direction in zip(page_state.TEXTS_INTO.values, DIRECTIONS, strict=True):
        for measure in page_state.TEXTS_MEASURE.values:
            link = f"{LINK}&level=expert&texts-into={into}&texts-measure={measure}&texts-answer=they".replace(" ", "+")
            drawn = offered(monkeypatch, "change", link)["change-texts map"]
            model = models.load("writer")
            they = model.tokenize(" they")[-1].id
            expected = patching(model, HERS, HIS, "stream", measure, direction, token=they)
            np.testing.assert_allclose(drawn.numbers()["effect"].values, expected, rtol=1e-4, atol=1e-4)


def test_what_is_typed_as_an_answer_is_one_token_and_never_held_against_itself(monkeypatch):
    model = models.load("writer")
    assert choose.token_of(model, "she", []) == model.tokenize(" she")[-1].id
    assert choose.token_of(model, "xyzzyqq", []) is None and choose.token_of(model, "", []) is None
    for name, word in (("texts-answer", "xyzzyqq"), ("texts-against", "xyzzyqq"), ("texts-against", "she")):
        app = open_link("change", f"{LINK}&level=expert&{name}={word}")
        assert len(app.warned) == 1 and f"the word “{word}”, which does not exist here" in app.warned[0]
    menu = streamlit.selectbox
    for typed, why in (("xyzzyqq", "is no single token"), ("she", "cannot be held against itself")):

        def write(title: str, *arguments, typed=typed, **options):  # AppTest cannot type what is no option
            return typed if title == "Rather than" else menu(title, *arguments, **options)

        with monkeypatch.context() as patch:
            patch.setattr(streamlit, "selectbox", write)
            assert any(why in info.value for info in open_link("change", f"{LINK}&level=expert").info)


def text_of_page(link: str) -> str:
    return words_on(open_link("change", f"experiment=Two+texts&{link}"))


def words(heading: str, level: str) -> str:
    return sections(ROOT / "pages" / "change" / f"{level}.md")[heading]


@pytest.mark.parametrize("level", state.LEVELS[1:])
def test_texts_that_cannot_be_compared_are_told_why(level, monkeypatch, tmp_path):
    assert words("texts same", level) in text_of_page(f"text=The+cat&other-text=The+cat&level={level}")
    assert words("texts one missing", level) in text_of_page(f"text=&other-text=The+cat&level={level}")
    assert (
        "hidden in your text" in (page_text := text_of_page(f"model=filler&text=a+cat&other-text=a+[MASK]&level={level}"))
        or "[MASK" in page_text
    )
    assert "second text" in text_of_page(f"model=filler&text=a+[MASK]&other-text=a+cat&level={level}")
    from tests.models.networks import network, tokenizer
    from ui.memory import allowed

    network("BERT without a head").save_pretrained(tmp_path)
    tokenizer("encoder").save_pretrained(tmp_path)
    monkeypatch.setattr(allowed, "folders", lambda: allowed.roots(address="localhost"))
    loaded.model(str(tmp_path))
    assert words("texts headless", level).partition("”")[2] in text_of_page(
        f"model={tmp_path}&text=a+b&other-text=b+b&level={level}"
    )


@pytest.mark.parametrize(
    "link",
    [
        "text=The+very+little+girl+was+tired,+so&other-text=The+boy+was+tired,+so&level=expert&texts-cell=1.2",
        "text=The+very+little+girl+was+tired,+so&other-text=The+boy+was+tired,+so&level=expert&texts-into=second+into+first",
        "text=a&other-text=b&level=intermediate&texts-part=heads&texts-cell=0.0",
        "text=The+cat+ran+into+the&other-text=The+dog+ran+into+the&level=intermediate&texts-measure=KL",
        "model=filler&text=The+[MASK]+sat+on+the+[MASK].&other-text=The+[MASK]+swam+in+the+[MASK].&level=expert",
        "model=translator&text=The+cat&other-text=The+dog&level=expert&texts-kind=decoder&texts-part=feed-forward",
        "model=translator&text=The+cat&other-text=The+dog&target=Le+chat&level=expert&texts-kind=cross&texts-part=heads",
    ],
)
def test_unequal_texts_one_token_several_masks_and_no_target(link):
    app = open_link("change", f"experiment=Two+texts&{link}")
    assert not app.warned and not app.info


def test_a_square_that_is_not_there_is_said_and_a_text_that_takes_it_away_keeps_it():
    app = open_link("change", f"{LINK}&level=expert&texts-cell=2.6")
    app.text_input(key="text").set_value("The girl").run()
    app.text_input(key="other-text").set_value("The boy").run()
    assert any("chosen square does not exist" in info.value for info in app.info)
    assert app.session_state["texts-cell"] == "2.6"


def test_the_sentence_says_what_the_patch_does():
    model = models.load("writer")
    patches = Patches(model, *model.traces([HERS, HIS]))
    after = np.exp(patches.read([patches.edits("stream")[1, 2]])[0])[patches.answers()[0]]
    board = text_on_board(open_link("change", f"{LINK}&level=expert&texts-cell=1.2"))
    assert percent(float(after)).replace("\u00a0", " ") in board.replace("\\302\\240", " ")


@pytest.mark.parametrize("box", grid(["text", "other-text"], ["text"]))
def test_what_was_asked_of_a_text_that_is_typed_over_never_stands_beside_the_new_one(monkeypatch, box):
    texts = {"text": f"The {box[:2]} girl ran, so", "other-text": f"The {box[:2]} boy ran, so"}
    first, second = Held(Patches.effects), Held(Patches.effects)
    drawn, draw = [], figures.grid

    def grid(draft, comparison, effects, *arguments):
        drawn.append((comparison.look.trace.text, comparison.other.trace.text, effects))
        return draw(draft, comparison, effects, *arguments)

    def patch(held):
        monkeypatch.setattr(Patches, "effects", lambda self, *arguments, **options: held(self, *arguments, **options))

    monkeypatch.setattr(figures, "grid", grid)
    patch(first)
    link = "&".join(f"{name}={text.replace(' ', '+')}" for name, text in texts.items())
    app = open_link("change", f"experiment=Two+texts&level=expert&{link}", finished=False)
    assert is_at_work(app) and first.begun.wait(LONG)
    patch(second)
    app.text_input(key=box).set_value(texts[box].replace("ran", "sat")).run()
    first.let.set()  # done while the new one is under way
    assert second.begun.wait(LONG)
    for _ in range(3):
        assert is_at_work(app.run()) and not drawn
    second.let.set()
    finish(app)
    monkeypatch.undo()
    clean, corrupt = (texts | {box: texts[box].replace("ran", "sat")}).values()
    assert drawn and all(drawing[:2] == (clean, corrupt) for drawing in drawn)
    np.testing.assert_allclose(drawn[-1][2], patching(models.load("writer"), clean, corrupt), atol=1e-4)


def test_two_texts_with_one_answer_say_so_before_they_ask_what_brings_it_back():
    texts = "The nurse told the doctor that she was late", "The doctor told the nurse that she was late"
    first, second = (models.load("writer").predict(text, top=1)[0] for text in texts)
    assert first.text == second.text == "."
    link = "experiment=Two+texts&level=intermediate&text={}&other-text={}".format(*(text.replace(" ", "+") for text in texts))
    same = f"first** ({percent(first.probability)} and {percent(second.probability)})"
    assert same.replace("\u00a0", "\\302\\240") in text_on_board(open_link("change", link))
    assert "Both texts have" not in text_on_board(open_link("change", f"{LINK}&level=intermediate"))
