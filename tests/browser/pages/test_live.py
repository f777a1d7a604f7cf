"""The line: each key has its picture without a run of the page, and no letter is lost when the line is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect
from playwright.sync_api import TimeoutError as WaitedTooLong

import models
from tests.browser.places import chance

BARS = "[data-part=bars] button"  # of page Type
SENTENCE = "The quick brown fox jumps over the lazy dog, and then it goes"


@dataclass
class Network:
    """The traffic of a page: texts that were asked on lines, and requests for runs of the page."""

    asked: list[str] = field(default_factory=list)
    runs: int = 0
    lines: list[WebSocketRoute] = field(default_factory=list)
    forbidden: bool = False


@pytest.fixture
def open_watched(new_page: Callable[..., Page], app_url: str) -> Callable[..., tuple[Page, Network]]:
    """A page whose line the test watches, cuts or forbids."""

    def open_at(path: str, forbidden: bool = False, drawn: str = BARS) -> tuple[Page, Network]:
        page, network = new_page(hold=app_url + "/_stcore/health"), Network(forbidden=forbidden)

        def line(socket: WebSocketRoute) -> None:
            if network.forbidden:
                return socket.close(code=1011)
            network.lines.append(socket)
            server = socket.connect_to_server()

            def send(message: str | bytes) -> None:
                network.asked += re.findall('"text":"([^"]*)"', str(message))
                server.send(message)

            socket.on_message(send)

        def count(message: str | bytes) -> None:
            network.runs += 1

        page.route_web_socket(re.compile("/live$"), line)
        page.on("websocket", lambda socket: "_stcore/stream" in socket.url and socket.on("framesent", count))
        page.goto(app_url + path, wait_until="domcontentloaded")
        expect(page.locator(drawn).first).to_be_visible(timeout=60_000)
        return page, network

    return open_at


def box(page: Page):
    return page.get_by_label("Your text")


def begin(page: Page) -> None:
    """Go to the end of the box, until its line is open and a run of the page knows it."""
    box(page).click()
    page.keyboard.press("End")
    page.wait_for_function("() => headlightLine.isOpen")


def shows(page: Page, text: str) -> None:
    """The picture is that of the text."""
    writer = models.load("writer")
    best = writer.predict(text, top=1)[0]
    expect(page.locator("[data-part=chips]").get_by_role("option")).to_have_count(len(writer.tokenize(text)))
    first = page.locator("[data-part=bars]").get_by_role("button").first
    expect(first).to_contain_text(best.text.strip() or best.text.replace("\n", "↵").replace(" ", "·"))
    expect(first).to_contain_text(chance(page, best.probability))


def in_address(page: Page, text: str) -> None:
    try:
        page.wait_for_function("text => new URL(location).searchParams.get('text') === text", arg=text)
    except WaitedTooLong as error:
        raise AssertionError(f"“{text}” is not in {page.url}; the box has “{box(page).input_value()}”") from error


def test_each_key_is_answered_on_the_line_and_a_rest_brings_one_run(open_watched):
    page, network = open_watched("/?text=Once&level=intermediate")
    begin(page)
    page.keyboard.type(" upon", delay=30)
    shows(page, "Once upon")
    in_address(page, "Once upon")
    page.wait_for_function("() => headlightLine.typed === null")  # a run has shown it
    network.asked.clear()
    runs = network.runs
    page.keyboard.type(" a time there", delay=60)
    shows(page, "Once upon a time there")
    in_address(page, "Once upon a time there")
    assert network.asked[-1] == "Once upon a time there" and len(network.asked) >= 10
    assert network.runs - runs <= 3, "a run for each key would be thirteen"


def test_no_letter_is_lost_at_fifteen_milliseconds_a_key(open_watched):
    page, network = open_watched("/?text=&level=expert")
    begin(page)
    page.keyboard.type(SENTENCE, delay=15)
    shows(page, SENTENCE)
    expect(box(page)).to_have_value(SENTENCE)
    in_address(page, SENTENCE)
    expect(box(page)).to_have_value(SENTENCE)
    assert SENTENCE in network.asked


def test_a_line_that_drops_in_the_middle_of_a_word_comes_back(open_watched):
    page, network = open_watched("/?text=Once")
    begin(page)
    page.keyboard.type(" upon a ti", delay=30)
    for line in network.lines:
        line.close(code=1011)
    page.keyboard.type("me", delay=30)
    shows(page, "Once upon a time")
    in_address(page, "Once upon a time")
    page.wait_for_function("() => Date.now() >= headlightLine.notBefore")  # no line is tried before
    page.keyboard.type(" there was", delay=30)
    shows(page, "Once upon a time there was")
    page.wait_for_function("() => headlightLine.isOpen")
    assert len(network.lines) == 2 and network.asked[-1] == "Once upon a time there was"


def test_where_a_line_is_forbidden_each_key_is_answered_all_the_same(open_watched):
    page, network = open_watched("/?text=Once", forbidden=True)
    box(page).click()
    page.keyboard.press("End")
    text = "Once"
    for key in " upon a":
        page.keyboard.type(key)
        text += key
        shows(page, text)
    in_address(page, text)
    assert not network.asked and network.runs >= 7
    assert page.locator(".stAlert").count() == 0, "nothing is said of it"


def test_what_is_chosen_holds_for_what_is_typed_next(open_watched):
    page, network = open_watched("/?text=Once+upon&level=beginner")
    begin(page)
    page.keyboard.type(" a", delay=30)
    shows(page, "Once upon a")
    page.get_by_role("radio", name="expert").or_(page.get_by_role("button", name="expert")).first.click()
    bars = page.locator("[data-part=bars]").get_by_role("button")
    expect(bars).to_have_count(10)
    begin(page)
    page.keyboard.type(" ti", delay=30)
    shows(page, "Once upon a ti")
    expect(bars).to_have_count(10)
    assert network.asked[-1] == "Once upon a ti"


def test_a_prediction_that_is_pressed_while_the_text_is_on_its_way_follows_that_text(open_watched):
    page, _ = open_watched("/?text=Once")
    begin(page)
    page.keyboard.type(" upon", delay=30)
    page.wait_for_function("() => headlightLine.typed === null")
    page.keyboard.type(" a", delay=30)
    shows(page, "Once upon a")
    page.locator("[data-part=bars]").get_by_role("button").first.click()
    expect(box(page)).to_have_value("Once upon a time")
    shows(page, "Once upon a time")


def test_composed_letters_a_paste_and_undo(open_watched):
    page, _ = open_watched("/?text=Caf&level=intermediate")
    begin(page)
    client = page.context.new_cdp_session(page)
    client.send("Input.imeSetComposition", {"text": "´", "selectionStart": 1, "selectionEnd": 1})
    client.send("Input.insertText", {"text": "é"})
    expect(box(page)).to_have_value("Café")
    shows(page, "Café")
    box(page).evaluate(
        """node => {
        const data = new DataTransfer();
        data.setData("text/plain", " one\\ntwo");
        node.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    }"""
    )
    expect(box(page)).to_have_value("Café one↵two")
    shows(page, "Café one\ntwo")
    page.keyboard.press("Control+z")
    expect(box(page)).to_have_value("Café")
    shows(page, "Café")
    in_address(page, "Café")


PAGES = {
    "/overview?level=intermediate&text=Once": ".hl-stations-view canvas, .hl-stations-view svg",
    "/change?level=intermediate&changes=h2.3,f4&text=Once": "[data-part=parts] .box",
}
DRAWN = """() => ({
    boards: [...headlightLine.mounts].map(([key, { drawn }]) => [key, drawn.length, new TextDecoder().decode(drawn)]),
    live: [...headlightLine.mounts.values()].filter(({ live }) => live).length,
    places: [...document.querySelectorAll(".hl")].map((node) => {
        const { x, y, width, height } = node.getBoundingClientRect();
        return [node.className, ...[x, y, width, height].map(Math.round)];
    }),
    focus: document.activeElement.ariaLabel,
})"""


@pytest.mark.parametrize("path", PAGES)
def test_a_page_has_each_key_on_the_line_and_its_run_changes_nothing(open_watched, path):
    page, network = open_watched(path, drawn=PAGES[path])
    begin(page)
    page.keyboard.type(" upon", delay=30)
    in_address(page, "Once upon")
    page.wait_for_function("() => headlightLine.typed === null")
    network.asked.clear()
    runs = network.runs
    page.keyboard.type(" a time", delay=60)
    page.wait_for_function("() => headlightLine.answered === headlightLine.asked && headlightLine.failed === null")
    before = page.evaluate(DRAWN)
    assert network.asked[-1] == "Once upon a time" and before["live"]
    in_address(page, "Once upon a time")
    page.wait_for_function("() => headlightLine.typed === null")
    after = page.evaluate(DRAWN)
    assert network.runs - runs <= 3, "a run for each key would be seven"
    assert after == before | {"live": 0}, "the run has drawn what the line had drawn, in the same places"


WATCH = """names => {
    window.seen = [];
    const take = headlightLine.take.bind(headlightLine);
    headlightLine.take = (data) => {
        take(data);
        if (!headlightLine.isAhead) return;
        for (const name of names) seen.push(`${name} ${getComputedStyle(document.querySelector(name)).visibility}`);
    };
}"""


OLDER = [
    ("/?model=translator&", BARS, [".st-key-whole-answer p", "[data-testid=stPopoverBody] code"]),
    ("/attention?level=intermediate&view=Query-key&", ".hl-query-key-view", [".st-key-query input"]),
]


@pytest.mark.parametrize(("path", "drawn", "words"), OLDER)
def test_words_of_an_older_text_are_out_of_sight_until_a_run_has_the_newer_one(open_watched, path, drawn, words):
    """The answer of a translator, what can be taken away, and the menu of the tokens."""
    page, _ = open_watched(f"{path}text=I+am", drawn=drawn)
    begin(page)
    page.keyboard.type(" so", delay=30)
    page.wait_for_function("() => headlightLine.typed === null && headlightLine.page?.texts[0] === 'I am so'")
    page.get_by_role("button", name="Take it away").click()
    for name in words:
        expect(page.locator(name).first).to_be_visible()
    box(page).evaluate("node => node.focus()")  # as by the keyboard: a press would close the panel
    page.evaluate(WATCH, words)
    page.keyboard.type(" tired.", delay=60)
    in_address(page, "I am so tired.")
    for name in words:
        expect(page.locator(name).first).to_be_visible()
    assert set(page.evaluate("seen")) == {f"{name} hidden" for name in words}


def test_on_another_page_nothing_is_asked_on_the_line(open_watched):
    page, network = open_watched("/?text=Once")
    begin(page)
    page.keyboard.type(" upon", delay=30)
    shows(page, "Once upon")
    page.get_by_test_id("stSidebarNavItems").get_by_role("link", name="Space").click()
    expect(page.get_by_role("heading", name="Space")).to_be_visible()
    expect(box(page)).to_have_value("Once upon")
    network.asked.clear()
    box(page).press("End")
    page.keyboard.type(" a", delay=30)
    assert not network.asked
    page.go_back()  # before a run has this text
    expect(page.get_by_text("What comes next")).to_be_visible()
    in_address(page, "Once upon a")
    shows(page, "Once upon a")


LATE = """() => {
    const { send } = WebSocket.prototype;
    WebSocket.prototype.send = function (message) {
        const isTyped = this.url.endsWith("/live") || new TextDecoder().decode(message).includes("-text");
        if (!isTyped) send.call(this, message);
    };
}"""  # what boxes and the line send from now on does not arrive


def test_a_link_and_back_bring_along_what_has_not_arrived_on_a_busy_server(open_watched):
    page, _ = open_watched("/?text=Once")
    begin(page)
    page.keyboard.type(" u", delay=30)
    shows(page, "Once u")
    page.evaluate(LATE)
    page.keyboard.type("pon a", delay=30)
    page.get_by_test_id("stSidebarNavItems").get_by_role("link", name="Space").click()
    expect(page.get_by_role("heading", name="Space")).to_be_visible()
    expect(box(page)).to_have_value("Once upon a")
    box(page).press("End")
    page.keyboard.type(" time", delay=30)
    page.go_back()
    expect(page.get_by_text("What comes next")).to_be_visible()
    expect(box(page)).to_have_value("Once upon a time")
    in_address(page, "Once upon a time")
    assert "%01" not in page.url


def test_a_paste_of_five_megabytes_is_cut_with_a_sentence_and_the_page_stays_connected(open_watched):
    """A server ends the connection of whoever sends more than four, and the browser would send it again."""
    page, network = open_watched("/?text=Once")
    connections: list[str] = []
    page.on("websocket", lambda socket: connections.append(socket.url))
    begin(page)
    page.evaluate("text => document.execCommand('insertText', false, text)", "jumps over " * 420_000 + "🦊 jumps " * 20_000)
    expect(page.get_by_text("The box holds at most 100,000 characters, so all but the last 100,000 of your")).to_be_visible()
    expect(box(page)).to_have_value(re.compile("^.{105000,115000}jumps $"))  # a fox counts twice there
    box(page).fill("Once upon")
    shows(page, "Once upon")
    assert not [url for url in connections if url.endswith("/stream")] and max(map(len, network.asked), default=0) < 10
