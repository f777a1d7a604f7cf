"""The pages as the menu has them."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from ui import menu


def place() -> None:
    import streamlit as st

    from ui import menu

    first, second = menu.pages({"heads", "room"}), menu.pages(set())
    st.session_state["same"] = [
        page is other for a, b in zip(first.values(), second.values(), strict=True) for page, other in zip(a, b, strict=True)
    ]
    for name, pages in (("first", first), ("second", second)):
        st.session_state[name] = {
            page._url_path: (page.title, page.icon, page.visibility) for of in pages.values() for page in of
        }
        st.session_state[f"{name}-default"] = [page._url_path for of in pages.values() for page in of if page._default]


def test_every_run_has_pages_of_its_own_and_those_that_are_hidden_are_hidden_there_alone():
    app = AppTest.from_function(place, default_timeout=60).run()
    assert not app.exception and not any(app.session_state["same"])
    named = {name: of for pages in menu.SECTIONS.values() for name, of in pages.items()}
    for run, hidden in (("first", {"heads", "room"}), ("second", set())):
        assert app.session_state[run] == {name: (*of, "hidden" if name in hidden else "visible") for name, of in named.items()}
        assert app.session_state[f"{run}-default"] == [menu.FIRST]
    assert all((menu.PAGES / name / "page.py").is_file() for name in named)


def test_what_is_asked_for_outside_of_a_run_is_not_kept():
    menu._page.cache_clear()
    menu.pages(set())
    assert not menu._page.cache_info().currsize
    test_every_run_has_pages_of_its_own_and_those_that_are_hidden_are_hidden_there_alone()
    assert menu._page.cache_info().currsize
