"""The states of a visitor's seat in a room, the events that change them, and the table of all changes.

A seat has three states at a time: its way (whether the page goes where the class goes), the errand of who leads, and its run of
the page. An event changes those states for which the table has a line, and leaves all others as they are.

way          event              next way
-----------  -----------------  -----------
following    touched            own way
following    sent to a page     sent
sent         touched            staying
sent         sent to a page     sent
sent         run ended          following
staying      sent to a page     staying
staying      asked to follow    sent
staying      brought back       own way
staying      run ended          own way
own way      sent to a page     staying
own way      asked to follow    following
leading      another one leads  mirroring
mirroring    touched            leading
mirroring    no other leads     leading

errand       event              next errand
-----------  -----------------  -----------
none         asked to show      showing
none         asked to return    returning
showing      asked to return    returning
showing      errand done        none
returning    asked to show      showing
returning    errand done        none

run          event              next run
-----------  -----------------  -----------
ended        run began          running
running      run began          cut
running      run ended          ended
cut          run ended          ended
"""

from __future__ import annotations

import threading
from enum import Enum
from typing import TypeVar, cast


class Way(Enum):
    """The way of a visitor: whether their page goes where the class goes.

    FOLLOWING: the visitor sees what the class sees. SENT: the same, while a run of the page to which the class went is under way.
    STAYING: the visitor touched something before that run, and is brought back from that page. OWN_WAY: the visitor no longer
    follows. LEADING: the class goes where this visitor goes. MIRRORING: the visitor leads, and shows the move of another leader.
    """

    FOLLOWING, SENT, STAYING, OWN_WAY = "following", "sent", "staying", "own way"
    LEADING, MIRRORING = "leading", "mirroring"


class Errand(Enum):
    """A leader's trip to another page that a button on the room's page starts.

    SHOWING: the class is moved to a page, and the leader comes back. RETURNING: the leader goes to where the class is."""

    NONE, SHOWING, RETURNING = "none", "showing", "returning"


class Run(Enum):
    """The state of the page's run. CUT: the previous run did not reach its end, so choices that it set by itself may differ from
    those at the end of the last complete run."""

    ENDED, RUNNING, CUT = "ended", "running", "cut"


class Event(Enum):
    """An event of a seat.

    TOUCHED: the visitor changes something, or says so. ASKED_TO_FOLLOW: a click on “Follow again”. SENT_TO_PAGE: a run of another
    page is requested, because the class is there. BROUGHT_BACK: the previous page is opened again. ANOTHER_LEADS, NO_OTHER_LEADS:
    whether another leader has moved the class to its place, at the beginning of a run. ASKED_TO_SHOW, ASKED_TO_RETURN: clicks on
    the page of the room. ERRAND_DONE: the page that they asked for is shown. RUN_BEGAN, RUN_ENDED: a run of the page, or of a
    part of it."""

    TOUCHED, ASKED_TO_FOLLOW = "touched", "asked to follow"
    SENT_TO_PAGE, BROUGHT_BACK = "sent to a page", "brought back"
    ANOTHER_LEADS, NO_OTHER_LEADS = "another one leads", "no other leads"
    ASKED_TO_SHOW, ASKED_TO_RETURN, ERRAND_DONE = "asked to show", "asked to return", "errand done"
    RUN_BEGAN, RUN_ENDED = "run began", "run ended"


State = Way | Errand | Run
TABLE: dict[tuple[State, Event], State] = {
    (Way.FOLLOWING, Event.TOUCHED): Way.OWN_WAY,
    (Way.FOLLOWING, Event.SENT_TO_PAGE): Way.SENT,
    (Way.SENT, Event.TOUCHED): Way.STAYING,
    (Way.SENT, Event.SENT_TO_PAGE): Way.SENT,
    (Way.SENT, Event.RUN_ENDED): Way.FOLLOWING,
    (Way.STAYING, Event.SENT_TO_PAGE): Way.STAYING,
    (Way.STAYING, Event.ASKED_TO_FOLLOW): Way.SENT,
    (Way.STAYING, Event.BROUGHT_BACK): Way.OWN_WAY,
    (Way.STAYING, Event.RUN_ENDED): Way.OWN_WAY,
    (Way.OWN_WAY, Event.SENT_TO_PAGE): Way.STAYING,
    (Way.OWN_WAY, Event.ASKED_TO_FOLLOW): Way.FOLLOWING,
    (Way.LEADING, Event.ANOTHER_LEADS): Way.MIRRORING,
    (Way.MIRRORING, Event.TOUCHED): Way.LEADING,
    (Way.MIRRORING, Event.NO_OTHER_LEADS): Way.LEADING,
    (Errand.NONE, Event.ASKED_TO_SHOW): Errand.SHOWING,
    (Errand.NONE, Event.ASKED_TO_RETURN): Errand.RETURNING,
    (Errand.SHOWING, Event.ASKED_TO_RETURN): Errand.RETURNING,
    (Errand.SHOWING, Event.ERRAND_DONE): Errand.NONE,
    (Errand.RETURNING, Event.ASKED_TO_SHOW): Errand.SHOWING,
    (Errand.RETURNING, Event.ERRAND_DONE): Errand.NONE,
    (Run.ENDED, Event.RUN_BEGAN): Run.RUNNING,
    (Run.RUNNING, Event.RUN_BEGAN): Run.CUT,
    (Run.RUNNING, Event.RUN_ENDED): Run.ENDED,
    (Run.CUT, Event.RUN_ENDED): Run.ENDED,
}


S = TypeVar("S", Way, Errand, Run)


def after(state: S, event: Event) -> S:
    """Return the state after an event."""
    return cast(S, TABLE.get((state, event), state))


class Machine:
    """The three states of a seat. way: its first way; sent_page: the page of SENT and STAYING, "" in all other ways."""

    def __init__(self, way: Way) -> None:
        self.way, self.errand, self.run = way, Errand.NONE, Run.ENDED
        self.sent_page = ""
        self._lock = threading.Lock()  # a page is sent for on the thread that serves its browser, beside its run

    def happen(self, event: Event, page: str = "") -> None:
        """Change the states by the table. page: the page to which the visitor is sent."""
        with self._lock:
            self.way, self.errand, self.run = after(self.way, event), after(self.errand, event), after(self.run, event)
            self.sent_page = (page or self.sent_page) if self.way in (Way.SENT, Way.STAYING) else ""

    @property
    def follows(self) -> bool:
        return self.way in (Way.FOLLOWING, Way.SENT)

    @property
    def mirrors(self) -> bool:
        return self.way is Way.MIRRORING

    @property
    def moves(self) -> bool:
        """Whether the class goes where this visitor goes."""
        return self.way is Way.LEADING
