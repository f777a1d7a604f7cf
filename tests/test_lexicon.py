"""The lexicon that ships, in the app: each word's place is there, and pages say their words where these stand first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import product

import pytest
from streamlit.testing.v1 import AppTest

from tests.grids import grid
from tests.pages.opening import PAGES, finish, open_link, words_on
from ui import state
from ui.lexicon import files, follow, payload

PLACES: dict[str, str] = {}  # an address, and the first entry that leads there
for entry in files.entries().values():
    PLACES.setdefault(next(href for to, href, _ in payload.links(entry) if to == "see"), entry.name)
MARK = re.compile(r"(?<!\\)\[[^\[\]]*\]\(#w-([a-z0-9-]+)\)")
SPOKEN = ("Markdown", "Caption", "Info", "Warning", "UnknownElement")  # words on the page; the last also holds boards
LINKS = {
    "attention": "view=Heatmap",
    "layers": "part=Lens",
    "flow": "show=Streams",
    "space": "space=Vocabulary",
    "inside": "stage=weights",
    "explain": "explain=Methods",
    "change": "experiment=What+wrote+it",
    "heads": "heads-part=Weights",
    "build": "build=Cost",
    "lessons": "learn=Words+to+know",
}


@pytest.mark.parametrize(
    "place",
    grid(PLACES, [*PLACES][::8]),
    ids=PLACES.values(),
)
def test_a_words_place_is_there_and_asks_for_nothing_that_this_level_lacks(place):
    page, _, link = place.partition("?")
    app = open_link(page, link)
    assert not app.warned and "The link also asks for" not in words_on(app)


def elements(app: AppTest) -> Iterator[tuple[str, str]]:
    """What each element is, and all that is sent of it; those that bring scripts and styles are left out."""
    ahead = [app._tree]
    while ahead:
        node = ahead.pop()
        ahead += getattr(node, "children", {}).values()
        proto = getattr(node, "proto", None)
        if proto is not None and not hasattr(node, "children") and "headlight_" not in getattr(proto, "component_name", ""):
            yield type(node).__name__, proto.SerializeToString().decode("utf-8", "replace")


@pytest.mark.parametrize(
    ("page", "level"), grid(product(PAGES, state.LEVELS), [(page, state.LEVELS[i % 3]) for i, page in enumerate(PAGES)])
)
def test_a_page_marks_a_word_once_and_only_in_what_is_read(page, level):
    for link in filter(None, ("", LINKS.get(page))):
        app = open_link(page, f"text=The+cat+sat+on+the+mat.&level={level}&{link}")
        marks = Counter[str]()
        for kind, sent_ in elements(app):
            marks.update(MARK.findall(sent_))
            rest = MARK.sub("", sent_)
            assert "#w-" not in rest, f"in no link: {rest[max(0, rest.index('#w-') - 200) :][:260]}"
            assert kind in SPOKEN or not MARK.search(sent_), f"in a {kind}: {sent_[:200]}"
        assert (marks or page == "lessons") and set(marks) <= files.entries().keys() and set(marks.values()) <= {1}, marks


def test_a_link_of_a_word_leads_there_with_text_model_and_level_of_the_visitor(monkeypatch):
    app = open_link("type", "text=The+cat&model=writer&level=intermediate&layer=L1&head=H2")
    asked = {}
    monkeypatch.setattr(follow, "bring", lambda: follow.follow(asked.pop("now")) if asked else None)
    # A browser's press reaches `follow` before the run; here it does in the run, which goes there at its end.
    for word, to, there in (
        ("embedding", "see", ("inside", "embeddings", "The cat", "intermediate")),
        ("surprise", "see", ("attention", "Reading", "The cat", "expert")),
    ):
        asked["now"] = {"word": word, "to": to}
        finish(app.run())
        page, choice, text, level = there
        assert f"# {page.capitalize()}" in words_on(app)
        assert choice == app.session_state["stage" if page == "inside" else "view"]
        assert (app.session_state["text"], app.session_state["level"]) == (text, level)


@pytest.mark.parametrize(
    "asked",
    [
        None,
        "attention",
        {},
        {"word": "attention"},
        {"word": "<b>", "to": "see"},
        {"word": ["x"], "to": "see"},
        {"word": "key", "to": "/"},
    ],
)
def test_what_no_browser_of_ours_says_is_passed_over(asked, monkeypatch):
    monkeypatch.setattr(state.st, "session_state", {})
    follow.follow(asked)
    assert not state.LESSON_NEXT.is_set


def test_the_list_has_every_word_and_finds_those_that_are_looked_for():
    app = open_link("lessons", "learn=Words+to+know")
    assert all(f"**{entry.title.replace('-', chr(92) + '-')}**" in words_on(app) for entry in files.entries().values())
    (box,) = app.text_input
    list_words = words_on(box.set_value("nucleus").run())
    assert "**top\\-p**" in list_words and "**head**" not in list_words
    assert "No word here has “xyzzy”" in words_on(app.text_input[0].set_value("xyzzy").run())


def test_the_list_begins_with_a_beginners_words_and_has_every_word_once():
    titles = [entry.title for entry in files.entries().values()]
    listed = {}
    for level in ("beginner", "expert"):
        text = words_on(open_link("lessons", f"learn=Words+to+know&level={level}"))
        listed[level] = re.findall(r"^\*\*(.+)\*\*  $", text.replace("\\", ""), re.M)
        assert sorted(listed[level]) == sorted(titles)
    assert listed["beginner"][:3] == ["token", "model", "layer"] and listed["expert"] == sorted(titles, key=str.lower)
