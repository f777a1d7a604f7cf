"""Whatever is run, cut off and sent when: a browser is told of nothing that stands in a container which it does not have."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from tests.ui.serving.replaced import needs
from ui.serving import order

pytestmark = needs("order")

PAGE, STAGE, PART = "", "stage", "part"  # fragments, each inside the one before


def container(path: tuple[int, ...], fragment: str) -> ForwardMsg:
    message = ForwardMsg()
    message.metadata.delta_path.extend(path)
    message.delta.add_block.vertical.SetInParent()
    message.delta.fragment_id = fragment
    return message


def element(path: tuple[int, ...], fragment: str) -> ForwardMsg:
    message = ForwardMsg()
    message.metadata.delta_path.extend(path)
    message.delta.new_element.markdown.body = fragment or "page"
    message.delta.fragment_id = fragment
    return message


def reference(path: tuple[int, ...]) -> ForwardMsg:
    """An element that the browser has already, by its hash alone."""
    message = ForwardMsg(ref_hash="hash")
    message.metadata.delta_path.extend(path)
    return message


def draw(fragment: str, first: int) -> list[ForwardMsg]:
    """The messages of one run. The page holds the stage at (0, 1), and the stage a row at (0, 1, first) with the part in it:
    at 0, or at 1 below a sentence that is not always there."""
    stage, row, part = (0, 1), (0, 1, first), (0, 1, first, 0)
    of_part = [container(part, PART), reference((*part, 0)), element((*part, 1), PART)]
    sentence = [element((*stage, 0), STAGE)] if first else []
    of_stage = [container(stage, STAGE), *sentence, container(row, STAGE), *of_part, reference((*row, 1))]
    of_page = [container((0,), PAGE), element((0, 0), PAGE), *of_stage]
    return {PAGE: of_page, STAGE: of_stage, PART: of_part}[fragment]


class Browser:
    """The tree of a page: a dict for a container, by the places in it, and None for an element."""

    def __init__(self) -> None:
        self.root: dict = {0: {}}

    def apply(self, messages: list[ForwardMsg]) -> None:
        """Errors: LookupError for a message that stands in a container which is not there."""
        for message in messages:
            *above, last = message.metadata.delta_path
            place = self.root
            for index in above:
                place = place.get(index)
                if place is None:
                    raise LookupError(f"There is no container at {above}.")
            block = message.WhichOneof("type") == "delta" and message.delta.WhichOneof("type") == "add_block"
            place[last] = (place.get(last) or {}) if block else None


def walk(clear, runs: list[tuple[str, int, int, bool]]) -> Browser:
    """Run parts of a page one after another. runs: the fragment, where its part stands, how many messages it draws before the
    next run cuts it off, and whether these are sent before that."""
    session = SimpleNamespace(_browser_queue=ForwardMsgQueue())
    browser, has_part, where = Browser(), False, 0
    browser.apply(draw(PAGE, 0))
    for fragment, first, count, sent in runs:
        if fragment == PART and not has_part:
            continue  # Streamlit runs only what the last run around it has come to
        where = where if fragment == PART else first
        clear(session, [fragment] if fragment else None)
        messages = draw(fragment, where)[:count]
        for message in messages:
            session._browser_queue.enqueue(message)
        if fragment != PART:
            has_part = len(messages) == len(draw(fragment, where))
        if sent:
            browser.apply(session._browser_queue.flush())
    browser.apply(session._browser_queue.flush())
    return browser


A_RUN = st.tuples(st.sampled_from([PAGE, STAGE, PART]), st.integers(0, 1), st.integers(0, 9), st.booleans())


@given(st.lists(A_RUN, max_size=12))
def test_no_message_stands_in_a_container_that_the_browser_does_not_have(runs):
    browser = walk(order.clear_for_run, [*runs, (PAGE, 0, 9, True)])
    assert browser.root[0][1][0][0] == {0: None, 1: None}, "the last run of the whole page stands"


@pytest.mark.parametrize("fragment", [STAGE, PAGE])
def test_the_last_run_is_shown_as_it_would_be_alone(fragment):
    runs = [(STAGE, 1, 9, False), (STAGE, 0, 9, False), (PART, 0, 3, False), (fragment, 0, 9, True)]
    assert walk(order.clear_for_run, runs).root[0][1][0] == {0: {0: None, 1: None}, 1: None}


def test_streamlit_itself_sends_the_inner_part_without_its_container():
    """Where this fails, Streamlit has been mended, and `ui.serving.order` can go."""
    runs = [(PAGE, 1, 9, True), (STAGE, 0, 9, False), (STAGE, 1, 9, True)]
    with pytest.raises(LookupError):
        walk(AppSession._clear_queue if AppSession._clear_queue is not order.clear_for_run else order.clear, runs)
