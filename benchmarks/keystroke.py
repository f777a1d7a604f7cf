"""From key press to new predictions on screen, in a real browser, beside the same for an app that only echoes the text.

    python -m benchmarks.keystroke [--level intermediate] [--keys 60]

Four servers run at once and take turns, key by key, so that a noisy machine is noisy for all of them. The other pages are
measured beside page Type on the same server.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, sync_playwright
from playwright.sync_api import TimeoutError as TookTooLong

from tests.serving import ROOT, find_chromium, launch, serve

APPS = Path(__file__).parent / "apps"
BEGUN = "text=The+farmer+gave+the+hungry+dog"
TEXT = " a bone, and the dog ran into the garden with it, where the cat sat"
WATCHED = {
    "floor (echo)": ".st-key-answer",
    "echoing component": ".st-key-answer",
    "Headlight": ".st-key-board",
    "Overview": ".st-key-overview",
    "Inside, a stage open": ".st-key-inside-open",
    "Attention": ".st-key-head-view",
    "Layers, the lens": ".st-key-lens-board",
    "Change, two parts off": ".st-key-change",
    "whole-page rerun": ".st-key-board",
}
PLACES = {
    "Overview": "/overview",
    "Inside, a stage open": "/inside?stage=queries",
    "Attention": "/attention?view=Head",
    "Layers, the lens": "/layers?part=Lens",
    "Change, two parts off": "/change?changes=h2.3,f4",
}
WARM = 4  # presses that are not counted
OPEN, PAINT, TURNS = 90, 20, 40  # seconds: at most until a page is there, until a press is painted, for all turns of two pages

# Notes when a key went down, and when the watched part next changed and that change was painted.
PROBE = """
watched => {
  const probe = window.probe = {};
  const text = node => [node, ...node.querySelectorAll('*')].map(inner => (inner.shadowRoot ?? inner).textContent).join('|');
  const changed = () => {  // of the text alone: the page also marks elements as out of date while a rerun goes on
    if (probe.pressed === undefined || probe.waiting || text(watched) === probe.before) return;
    probe.waiting = true;
    requestAnimationFrame(() => setTimeout(() => { probe.took = performance.now() - probe.pressed; }));
  };
  const observer = new MutationObserver(changed);
  const options = {subtree: true, childList: true, characterData: true, attributes: true};
  const watch = node => {
    observer.observe(node, options);
    for (const inner of node.querySelectorAll('*')) if (inner.shadowRoot) watch(inner.shadowRoot);
  };
  watch(watched);
  const pressed = () => {
    Object.assign(probe, {before: text(watched), waiting: false, took: undefined, pressed: performance.now()});
  };
  document.addEventListener('keydown', pressed, true);
}
"""


@dataclass(frozen=True)
class Press:
    """What is pressed on a page, and the part of it whose change is waited for. where: what has the focus then."""

    path: str
    watched: str
    where: Callable[[Page], Locator]
    keys: Sequence[str]  # one after the other, and again


KEY = Press("/", ".st-key-board", lambda page: page.get_by_label("Your text"), TEXT)


def prepare(page: Page, address: str, watched: str, inside: str = "", typing: bool = True) -> None:
    """Open a page, and watch a part of it once it holds what is inside. Raises SystemExit where that does not come."""
    page.goto(address)
    try:
        page.wait_for_selector(f"{watched} {inside}", timeout=1000 * OPEN)
    except TookTooLong:
        raise SystemExit(f"{address} did not show {watched} {inside} within {OPEN} seconds.") from None
    page.wait_for_timeout(3000)
    page.locator(watched).evaluate(PROBE)
    if typing:
        page.get_by_label("Your text").click()
        page.keyboard.press("End")


def press(page: Page, key: str) -> float:
    """Milliseconds until what the key changed was painted. Raises SystemExit where it changes nothing."""
    page.keyboard.press("Space" if key == " " else key)
    try:
        page.wait_for_function("window.probe.took !== undefined", timeout=1000 * PAINT)
    except TookTooLong:
        raise SystemExit(f"Nothing new was painted within {PAINT} seconds of a press on {key!r} at {page.url}.") from None
    took = page.evaluate("window.probe.took")
    page.wait_for_timeout(150)  # let the rest of the page settle: one key at a time
    return took


def in_turns(browser: Browser, url: str, link: str, action: Press, count: int) -> list[tuple[float, float]]:
    """Milliseconds of a press and of a key on page Type, which take turns on one server: `count` pairs, or as many as there is
    time for. link: what both pages are opened with."""
    pages = []
    for each in (action, KEY):
        page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        prepare(page, f"{url}{each.path}?{link}&{BEGUN}", each.watched, ".row", each is KEY)
        pages.append(page)
    taken: list[tuple[float, float]] = []
    until = time.monotonic() + TURNS
    while len(taken) < count + WARM and (time.monotonic() < until or len(taken) < WARM + 2):
        pair = []
        for page, each in zip(pages, (action, KEY), strict=True):
            page.bring_to_front()
            each.where(page).focus()
            pair.append(press(page, each.keys[len(taken) % len(each.keys)]))
        taken.append((pair[0], pair[1]))
    for page in pages:
        page.context.close()
    return taken[WARM:]


def row(name: str, taken: list[tuple[float, float]]) -> tuple[str, float]:
    """A row of a table of what `in_turns` gave, and the median ratio within pairs."""
    sides = [f"{statistics.median(side):.0f} ({statistics.quantiles(side, n=20)[-1]:.0f})" for side in zip(*taken, strict=True)]
    low, middle, high = statistics.quantiles((a / b for a, b in taken), n=4)
    return f"| {name}, {len(taken)} pairs | {sides[0]} | {sides[1]} | {middle:.2f} ({low:.2f}–{high:.2f}) |", middle


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--level", default="intermediate")
    parser.add_argument("--keys", type=int, default=60)
    arguments = parser.parse_args()
    scripts = {
        "floor (echo)": APPS / "echo.py",
        "echoing component": APPS / "echo_component.py",
        "Headlight": ROOT / "app.py",
        "whole-page rerun": APPS / "whole_page.py",
    }
    with ExitStack() as stack, sync_playwright() as playwright:
        browser = launch(playwright, find_chromium())
        pages = {}
        servers = {name: stack.enter_context(serve(script)) for name, script in scripts.items()}
        for name in WATCHED:
            pages[name] = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
            url = servers.get(name, servers["Headlight"]).url + PLACES.get(name, "/")
            sign = "&" if "?" in url else "?"
            prepare(pages[name], f"{url}{sign}level={arguments.level}&{BEGUN}", WATCHED[name])
        times: dict[str, list[float]] = {name: [] for name in pages}
        for number in range(arguments.keys + WARM):
            for name, page in pages.items():
                page.bring_to_front()
                took = press(page, TEXT[number % len(TEXT)])
                if number >= WARM:
                    times[name].append(took)
        browser.close()
    floor, own = (statistics.median(times[name]) for name in ("floor (echo)", "Headlight"))
    print(f"Key press to screen, {arguments.keys} keys each, level {arguments.level}")
    print(f"{'':22}{'median ms':>10}{'p95 ms':>10}{'median / floor':>16}{'median / Headlight':>20}")
    for name, taken in times.items():
        p95 = statistics.quantiles(taken, n=20)[-1]
        median = statistics.median(taken)
        print(f"{name:22}{median:>10.0f}{p95:>10.0f}{median / floor:>16.2f}{median / own:>20.2f}")


if __name__ == "__main__":
    main()
