"""From key press to new predictions on screen, in a real browser, beside the same for an app that only echoes the text.

    python -m benchmarks.keystroke [--level intermediate] [--keys 60]

Four servers run at once and take turns, key by key, so that a noisy machine is noisy for all of them.
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
    "whole-page rerun": ".st-key-board",
}

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
    page.goto(f"{url}/?level={level}&text=The+farmer+gave+the+hungry+dog")
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
        for name, script in scripts.items():
            server = stack.enter_context(serve(script))
            pages[name] = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
            prepare(pages[name], server.url, WATCHED[name], arguments.level)
        times: dict[str, list[float]] = {name: [] for name in pages}
        for number in range(arguments.keys + 4):
            for name, page in pages.items():
                page.bring_to_front()
                took = press(page, TEXT[number % len(TEXT)])
                if number >= 4:
                    times[name].append(took)
        browser.close()
    floor = statistics.median(times["floor (echo)"])
    print(f"Key press to screen, {arguments.keys} keys each, level {arguments.level}")
    print(f"{'':18}{'median ms':>10}{'p95 ms':>10}{'median / floor':>16}")
    for name, taken in times.items():
        p95 = statistics.quantiles(taken, n=20)[-1]
        print(f"{name:18}{statistics.median(taken):>10.0f}{p95:>10.0f}{statistics.median(taken) / floor:>16.2f}")


if __name__ == "__main__":
    main()
