"""From key press to new predictions on screen, in a real browser, beside the same for an app that only echoes the text.

    python -m benchmarks.keystroke [--level intermediate] [--keys 60]

Four servers run at once and take turns, key by key, so that a noisy machine is noisy for all of them. Page Inside, with a
stage open, is measured beside page Type on the same server.
"""

from __future__ import annotations

import argparse
import statistics
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.serving import ROOT, find_chromium, launch, serve

APPS = Path(__file__).parent / "apps"
TEXT = " a bone, and the dog ran into the garden with it, where the cat sat"
WATCHED = {
    "floor (echo)": ".st-key-answer",
    "echoing component": ".st-key-answer",
    "Headlight": ".st-key-board",
    "Inside, a stage open": ".st-key-inside-open",
    "whole-page rerun": ".st-key-board",
}
PLACES = {"Inside, a stage open": "/inside?stage=queries"}

# Notes when a key went down, and when the watched part next changed and that change was painted.
PROBE = """
selector => {
  const probe = window.probe = {};
  const text = node => [node, ...node.querySelectorAll('*')].map(one => (one.shadowRoot ?? one).textContent).join('|');
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
  const watched = document.querySelector(selector);
  watch(watched);
  const pressed = () => {
    Object.assign(probe, {before: text(watched), waiting: false, took: undefined, pressed: performance.now()});
  };
  document.addEventListener('keydown', pressed, true);
}
"""


def prepare(page: Page, url: str, selector: str, level: str) -> None:
    sign = "&" if "?" in url else "?"
    page.goto(f"{url}{sign}level={level}&text=The+farmer+gave+the+hungry+dog")
    page.wait_for_selector(selector, timeout=60_000)
    page.wait_for_timeout(3000)
    page.evaluate(PROBE, selector)
    page.get_by_label("Your text").click()
    page.keyboard.press("End")


def press(page: Page, key: str) -> float:
    """Milliseconds until what the key changed was painted."""
    page.keyboard.press("Space" if key == " " else key)
    page.wait_for_function("window.probe.took !== undefined", timeout=20_000)
    took = page.evaluate("window.probe.took")
    page.wait_for_timeout(150)  # let the rest of the page settle: one key at a time
    return took


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
            prepare(pages[name], url, WATCHED[name], arguments.level)
        times: dict[str, list[float]] = {name: [] for name in pages}
        for number in range(arguments.keys + 4):
            for name, page in pages.items():
                page.bring_to_front()
                took = press(page, TEXT[number % len(TEXT)])
                if number >= 4:
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
