"""The rooms of this server, kept in memory: teachers, followers, the class's place, questions and answers.

This module knows neither pages nor sockets. A listener passes the room a function, which is called, from any thread, when there
is news.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import os
import re
import secrets
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ui.memory.guesses import Guesses
from ui.rooms.codes import random_code
from ui.rooms.home import home
from ui.rooms.questions import Question, Reply, RoomError, line, prepare

PEOPLE, QUESTIONS = 300, 50  # at most: people in a room, questions that a room keeps
ROOMS, OF_NETWORK, OF_BROWSER = 240, 80, 5  # at most: rooms on a server, of those that one network and one browser have opened
ANSWERS = 50_000  # at most, of all rooms together: 70 MB of the longest ones
JUST_OPENED = 20.0  # seconds in which the page of who has opened a room may still be on its way
WRONG, OWN, WITHIN = 600, 30, 60.0  # wrong codes that a network, which a class shares, and a browser may try in so many seconds
CLOSED = 10_000  # codes of rooms that are over or were dropped, as many of each are remembered
DAY = 24 * 3600  # seconds for which who has opened a room may open it again
NAMED = 40  # characters of a name
WORDS = 30  # different free answers that are counted on screen
PARTS = 40  # folded parts of a page of which it is known whether they are open
NOWHERE = ("", -1)  # what is pointed at where nothing is
HIDDEN = "hidden"  # among what is fixed: pages that are not in the menu of the class

NONE = "There is no room {code}. It has ended, or the code is wrong."
ENDED = "The room {code} has ended."
DROPPED = "Nobody was in room {code}, and this server needed its place. It opens again when its teacher comes back."
BACK = "Nobody was in this room, and the server needed its place. It is open again, without its questions and answers."
FULL = "There are {count} rooms on this server, and somebody is in each of them. Try again later."
FULL_NETWORK = "{count} rooms from your network are open on this server, and it takes no more from there. Try again in a minute."
FULL_BROWSER = "You lead {count} rooms already, and somebody is in each of them. End one of them first."
ANSWERS_DROPPED = (
    "This server holds as many answers as it can, so those to your question “{words}” were dropped. Take answers home soon after "
    "you have asked."
)
REVEALED = "The right answer is shown, so answers are no longer counted."
GUESSED = "Too many codes that do not exist came from your {where}. Try again in a minute."


class GuessError(RoomError):
    """Too many wrong codes were tried."""


@dataclass
class Person:
    """One tab of a browser. voter: identifies the browser, so that it answers once; lines: how many of its lines are open; place:
    its position in words; at: its position as choices; versions_shown: the versions that the browser has reported to show, and
    when."""

    voter: str
    leads: bool = False
    follows: bool = True
    lines: int = 0
    place: str = ""
    at: Any = None
    seen: float = 0.0
    versions_shown: deque[tuple[int, float]] = field(default_factory=lambda: deque(maxlen=30))

    def shows(self, version: int) -> float:
        """Return since when the browser has shown a version, or a later one; infinity before it reports one."""
        return next((when for has, when in list(self.versions_shown) if has >= version), math.inf)


@dataclass
class Room:
    """A room. at: the class's position, None before the first move; place: the same in words; mover: the leader who moved it
    there; pointed: the token at which the leader points, by the link of the views that show it; fixed: choices that only the
    leader may change. version grows with each change of `at` and `fixed`; `fixed_at` is the version at which `fixed` last
    changed."""

    code: str
    clock: Callable[[], float]
    version: int = 0
    at: Any = None
    place: str = ""
    mover: Person | None = None
    pointed: tuple[str, int] = NOWHERE
    opened: dict[str, bool] = field(default_factory=dict)
    fixed: dict[str, Any] = field(default_factory=dict)
    fixed_at: int = 0
    people: dict[str, Person] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)
    seen: float = 0.0  # when the one who leads was last here
    ended: bool = False
    listeners: dict[Callable[[], None], bool] = field(default_factory=dict)  # whether it leads
    lock: threading.RLock = field(default_factory=threading.RLock)
    network: str = ""  # from which it was opened
    browser: str = ""  # that has opened it
    notice: str = ""  # what the server has dropped of it, as a sentence for who leads
    answered: Callable[[], None] = lambda: None  # called when it holds one more answer

    @property
    def is_empty(self) -> bool:
        """Whether no page is open in it, not even the leader's."""
        return not any(person.lines for person in list(self.people.values()))

    @property
    def answers(self) -> int:
        """The number of answers that it holds."""
        return sum(len(question.answers) for question in list(self.questions))

    @property
    def question(self) -> Question | None:
        """The question that is asked now."""
        return self.questions[-1] if self.questions and self.questions[-1].open else None

    @property
    def led(self) -> bool:
        """Whether a leader is here."""
        return any(person.leads and person.lines for person in list(self.people.values()))

    def tell(self, leading: bool = False) -> None:
        """Call the listeners. leading: only leaders."""
        for call, leads in list(self.listeners.items()):
            if leads or not leading:
                call()

    def sit(self, who: str, voter: str, leads: bool = False) -> Person:
        """Return the seat of a tab, a new one if it has none. Errors: RoomError if all seats are taken."""
        with self.lock:
            if person := self.people.get(who):
                person.leads = person.leads or leads
                return person
            if len(self.people) >= PEOPLE:
                gone = [name for name, other in self.people.items() if not other.lines and not other.leads]
                if not gone and not leads:
                    raise RoomError(f"The room {self.code} is full: it has {PEOPLE} seats.")
                for name in sorted(gone, key=lambda name: self.people[name].seen)[:1]:
                    del self.people[name]
            person = self.people[who] = Person(voter, leads, seen=self.clock())
        if leads:
            self.seen = self.clock()
        return person

    def note_shown(self, who: str, version: int) -> None:
        """Note that a tab shows a version."""
        if person := self.people.get(who):
            person.versions_shown.append((version, self.clock()))

    def leave(self, who: str) -> None:
        with self.lock:
            self.people.pop(who, None)
        self.tell(leading=True)

    def move(self, at: Any, mover: Person | None = None, place: str = "") -> int:
        """Move everybody to a position; the last move wins. place: the position in words. Return the version of the room after
        the move."""
        with self.lock:
            self.seen = self.clock()
            if at == self.at:
                return self.version
            if place != self.place:
                self.opened = {}
            self.at, self.mover, self.place, self.version = at, mover, place, self.version + 1
            version = self.version
        self.tell()
        return version

    def point(self, who: str, link: str, position: int) -> None:
        """Point at a token, or at none (-1), for the leader."""
        person = self.people.get(who)
        pointed = (link, position) if position >= 0 else NOWHERE
        if person and person.leads and pointed != self.pointed:
            self.pointed = pointed
            self.tell()

    def open_part(self, who: str, name: str, is_open: bool) -> None:
        """Open or close a folded part of the page, as the leader has done."""
        person = self.people.get(who)
        if person and person.leads:
            with self.lock:
                opened = {**{part: state for part, state in self.opened.items() if part != name}, name: is_open}
                self.opened = dict(list(opened.items())[-PARTS:])
            self.tell()

    def fix(self, **fixed: Any) -> None:
        """Fix choices for all, also for visitors who go their own way; None for choices that everybody may make."""
        with self.lock:
            all_fixed = {name: value for name, value in {**self.fixed, **fixed}.items() if value is not None}
            if all_fixed == self.fixed:
                return
            self.fixed, self.version = all_fixed, self.version + 1
            self.fixed_at = self.version
        self.tell()

    def fix_again(self, who: str, fixed: dict[str, Any]) -> None:
        """Restore the choices that were fixed before a restart of this server, from the leader's browser, unless something has
        been fixed since."""
        with self.lock:
            person = self.people.get(who)
            if person and person.leads and not self.fixed_at:
                self.fix(**fixed)

    def ask(self, words: str, kind: str, choices: tuple[str, ...] = (), model: str = "", right: str = "") -> Question:
        """Put a question, in the place of the one before. Errors: RoomError for one that cannot be answered."""
        question = prepare(words, kind, choices, model, right)
        with self.lock:
            self.stop()
            self.questions.append(question)
            del self.questions[:-QUESTIONS]
        self.tell()
        return question

    def answer(self, who: str, raw_answer: object, name: object = "") -> str:
        """Count an answer; only the last one of each browser counts. Return it in its counted form. Errors: RoomError if it
        cannot be counted.
        """
        with self.lock:
            person, question = self.people.get(who), self.question
            if not person or not question:
                raise RoomError("This question is no longer asked.")
            if question.right_visible:
                raise RoomError(REVEALED)
            answer = question.read(raw_answer)
            new = person.voter not in question.answers
            if new and len(question.answers) >= 2 * PEOPLE:
                raise RoomError("There are as many answers as the room can hold.")
            question.answers[person.voter] = Reply(line(str(name), NAMED), answer, time.time())
            question.changes += 1
        if new:
            self.answered()
        self.tell(leading=not question.counts_visible)
        return answer

    def drop_answers(self) -> None:
        """Drop the answers to the oldest question that has any, and tell the leader."""
        with self.lock:
            for question in self.questions:
                if question.answers:
                    question.answers.clear()
                    question.changes += 1
                    self.notice = ANSWERS_DROPPED.format(words=question.words)
                    return

    def show(self, visible: bool) -> None:
        """Show the counts to everybody, or hide them."""
        with self.lock:
            if question := self.question:
                question.counts_visible = visible
        self.tell()

    def reveal(self) -> None:
        """Let everybody see the right answer, and take no more answers."""
        with self.lock:
            if question := self.question:
                question.right_visible = True
        self.tell()

    def stop(self) -> None:
        """Take no more answers; the question and its answers are kept."""
        with self.lock:
            if question := self.question:
                question.open = False
        self.tell()

    def moved_by_another(self, person: Person) -> bool:
        """Return whether another leader has moved the class to where it is."""
        return self.mover is not None and self.mover is not person

    def here(self) -> list[Person]:
        """Return the people of the class whose page is open."""
        return [person for person in list(self.people.values()) if person.lines and not person.leads]

    def gathered(self) -> Any:
        """Return the class's position, or that of most followers if nobody has moved it since this server was started; None for
        an empty class."""
        positions = [person.at for person in self.here() if person.follows and person.at is not None]
        return max(positions, key=positions.count, default=None) if self.at is None else self.at

    def places(self) -> list[tuple[str, int]]:
        """Return the positions of the class in words, and how many people are at each."""
        return Counter(person.place for person in self.here() if person.place).most_common()


class Rooms:
    """All rooms of a server. secret: signs the keys of leaders and the tickets of participants, so that both stay valid after a
    restart with the same secret; end: seconds without a leader after which a room ends; ours: returns whether this process, and
    not another one of the server, has the room of a code."""

    def __init__(
        self,
        secret: bytes,
        end: float,
        clock: Callable[[], float] = time.monotonic,
        ours: Callable[[str], bool] = home.has,
    ) -> None:
        self.secret, self.end, self.clock, self.ours = secret, end, clock, ours
        self.epoch = time.time() - clock()  # read once: a clock that is set meanwhile ends no key
        self.rooms: dict[str, Room] = {}
        self.closed: OrderedDict[str, None] = OrderedDict()  # codes that are over for good
        self.dropped: OrderedDict[str, None] = OrderedDict()  # codes whose rooms had to make place
        self.guesses = Guesses(OWN, lambda: WRONG // home.count, WITHIN, clock)
        self.lock = threading.RLock()

    def open(self, network: str = "", browser: str = "") -> tuple[Room, str]:
        """Open a room for a browser in a network; return it and its leader's key. Errors: RoomError if there are too many."""
        with self.lock:
            self.tidy()
            self.make_place(network, browser)
            code = ""
            while not code or code in self.rooms or code in self.closed or not self.ours(code):
                code = random_code()
            return self.make(code, network, browser), self.key(code)

    def make(self, code: str, network: str = "", browser: str = "") -> Room:
        room = Room(code, self.clock, seen=self.clock(), network=network, browser=browser, answered=self.bound_answers)
        if code in self.dropped:
            del self.dropped[code]
            room.notice = BACK
        self.rooms[code] = room
        return room

    def make_place(self, network: str, browser: str) -> None:
        """Drop empty rooms until a browser in a network may open another: its own first, then those of its network, then those of
        the network that has most. Errors: RoomError, a sentence, if none can be dropped."""
        every = list(self.rooms.values())
        near = [room for room in every if room.network == network]
        own = [room for room in near if browser and room.browser == browser]
        for held, most, sentence in ((own, OF_BROWSER, FULL_BROWSER), (near, OF_NETWORK, FULL_NETWORK), (every, ROOMS, FULL)):
            if sum(room.code in self.rooms for room in held) >= most and not self.drop_from(held, own):
                raise RoomError(sentence.format(count=most))

    def drop_from(self, held: list[Room], own: list[Room]) -> bool:
        """Drop one of these rooms if one is empty, and return whether there was one: in the network with most rooms, the one
        whose leader was last seen longest ago. own: the visitor's own rooms, which may be dropped even if they are new."""
        count = Counter(room.network for room in self.rooms.values())
        now = self.clock()
        empty = [
            room for room in held if room.code in self.rooms and room.is_empty and (room in own or now - room.seen > JUST_OPENED)
        ]
        if not empty:
            return False
        room = min(empty, key=lambda room: (-count[room.network], room.seen))
        self.remember(self.dropped, room.code)
        self.end_room(room)
        return True

    def find(self, code: str, key: str = "", network: str = "", browser: str = "") -> tuple[Room, bool]:
        """Return a room, and whether the key leads it; with a leader's key, a room that this server no longer knows is opened
        again. Errors: RoomError if there is none; GuessError for a network or browser that has tried too many wrong codes.
        Further tries of such a browser do not count against its network, which its class shares."""
        with self.lock:
            leads = self.leads(code, key)
            if not leads and (where := self.guesses.over(network, browser)):
                raise GuessError(GUESSED.format(where=where))
            room = self.rooms.get(code)
            if room and self.is_over(room):
                self.close(room)
                room = None
            if not room and leads and code not in self.closed:
                self.make_place(network, browser)
                room = self.make(code, network, browser)
            if not room:
                self.guesses.note(code, network, browser)
                why = ENDED if code in self.closed else DROPPED if code in self.dropped else NONE
                raise RoomError(why.format(code=line(code, 6)))
            return room, leads

    def is_over(self, room: Room) -> bool:
        return room.ended or (not room.led and self.clock() - room.seen > self.end)

    def close(self, room: Room) -> None:
        """End a room for good."""
        with self.lock:
            self.remember(self.closed, room.code)
            self.end_room(room)

    def end_room(self, room: Room) -> None:
        with self.lock:
            if self.rooms.get(room.code) is room:
                del self.rooms[room.code]
            room.ended = True
        room.tell()

    def remember(self, codes: OrderedDict[str, None], code: str) -> None:
        codes[code] = None
        while len(codes) > CLOSED:
            codes.popitem(last=False)

    def bound_answers(self) -> None:
        """Drop the oldest answers of the room with most of them, if all rooms together hold more than the server allows."""
        with self.lock:
            every = list(self.rooms.values())
            if sum(room.answers for room in every) > ANSWERS:
                max(every, key=lambda room: room.answers).drop_answers()

    def tidy(self) -> None:
        """End the rooms whose time is over."""
        with self.lock:
            for room in list(self.rooms.values()):
                if self.is_over(room):
                    self.close(room)

    def sign(self, *words: object) -> str:
        return hmac.new(self.secret, " ".join(map(str, words)).encode(), hashlib.sha256).hexdigest()[:32]

    def now(self) -> float:
        """Return the seconds since 1970: the machine's clock at the start of the server, plus the time since."""
        return self.epoch + self.clock()

    def key(self, code: str) -> str:
        """Return the key that proves a room's leader, valid for a day; it is not stored."""
        until = int(self.now()) + DAY
        return f"{until:x}-{self.sign('leads', code, until)}"

    def leads(self, code: str, key: str) -> bool:
        """Return whether a key is that of a room's leader."""
        if not (match := re.fullmatch(r"([0-9a-f]{1,12})-([0-9a-f]{32})", key)):
            return False
        until = int(match[1], 16)
        return hmac.compare_digest(match[2], self.sign("leads", code, until)) and self.now() < until

    def ticket(self, code: str) -> str:
        """Return a ticket that proves that somebody was in a room."""
        return self.sign("was in", code)

    def was_in(self, code: str, ticket: str) -> bool:
        return code not in self.closed and hmac.compare_digest(ticket.encode(), self.ticket(code).encode())


def from_environment(settings: Mapping[str, str] = os.environ) -> Rooms:
    """Return the rooms with the settings HEADLIGHT_ROOM_SECRET and HEADLIGHT_ROOM_MINUTES."""
    try:
        minutes = float(settings.get("HEADLIGHT_ROOM_MINUTES", "") or 30)
    except ValueError:
        minutes = 30.0
    return Rooms((settings.get("HEADLIGHT_ROOM_SECRET") or secrets.token_hex()).encode(), 60 * minutes)


rooms = from_environment()
