"""Who leads a room and who follows, on the pages of the app, without browsers."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from tests.pages.opening import open_link, press
from ui.rooms.states import Event
from ui.rooms.store import Room, rooms


def choices(app: AppTest, *names: str) -> tuple:
    return tuple(app.session_state[name] if name in app.session_state else None for name in names)  # noqa: SIM401


def back(app: AppTest, page: str) -> AppTest:
    """The page that the server went to by itself: a browser would have followed it there."""
    app._page_hash = calc_hash(page)
    return app.run()


def lead(page: str, link: str) -> tuple[AppTest, Room]:
    """Who leads, on a page at a link, and the room."""
    app = press(open_link(page, link), "Open a room")
    room = rooms.rooms[app.session_state["room"]]
    press(app, "Back to where the class is")
    return back(app, page), room


def follow(room: Room, page: str = "attention", link: str = "") -> AppTest:
    return open_link(page, f"room={room.code}&{link}")


def person(app: AppTest):
    return app.session_state["room-seat"].person


def send(other: AppTest, page: str) -> AppTest:
    """A follower's next run is one of the page to which the class went (`ui.rooms.whole`)."""
    other.session_state["room-seat"].happen(Event.SENT_TO_PAGE, page)
    return back(other, page)


def second_device(app: AppTest, page: str, **link: str) -> AppTest:
    """Another device of who leads, at a page."""
    other = AppTest.from_file(app._script_path, default_timeout=60)
    other._page_hash = calc_hash(page)
    for name, value in {**link, "room": app.session_state["room"]}.items():
        other.query_params[name] = value
    other.session_state["room-key"] = app.session_state["room-key"]
    return other.run()
