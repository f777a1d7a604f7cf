"""What Streamlit is told of a room: a browser that comes to a fresh server sends that, not what stands in its address bar."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from ui.rooms.store import rooms


def page() -> None:
    from ui.rooms import seat

    seat.enter("type")


def test_streamlit_knows_the_room_after_each_change_of_page_until_it_is_left():
    room, _ = rooms.open()
    visit = AppTest.from_function(page, default_timeout=30)
    visit.session_state["room"] = room.code
    assert visit.run().query_params["room"] == room.code, "of a room that a button opened"
    visit.query_params.clear()
    assert visit.run().query_params["room"] == room.code, "of which a change of page keeps nothing"
    visit.session_state["room"] = ""
    assert "room" not in visit.run().query_params
    assert not visit.exception
    rooms.close(room)
