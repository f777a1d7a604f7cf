"""From launch to answer, and from a visit to content on screen: Headlight beside a bare Streamlit app.

    python -m benchmarks.startup [--rounds 5]

The two take turns, each on a fresh server and in a fresh browser context, so that a noisy machine is noisy for both. The
first visit is to a server that has run nothing yet; the second comes right after it, from a browser with an empty cache.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.serving import ROOT, find_chromium, launch, serve

BARE, OURS = "bare app", "Headlight"
SCRIPTS = {BARE: Path(__file__).parent / "apps" / "bare.py", OURS: ROOT / "app.py"}

LAUNCH = "launch to answer"
STEPS = {  # what must be painted, in either app
    "text box": {BARE: "input[aria-label='Your text']", OURS: "input[aria-label='Your text']"},
    "picture": {BARE: "[data-testid=stVegaLiteChart] .marks", OURS: ".st-key-board"},
}

# Milliseconds since the visit began when the element stood there in its size, and a frame with it had been painted.
PAINTED = """
([selector, patience]) => new Promise((resolve, reject) => {
  const look = () => {
    if (performance.now() > patience) return reject(new Error(`${selector} never came`));
    const element = document.querySelector(selector);
    if (!element || element.getBoundingClientRect().height < 20) return requestAnimationFrame(look);
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
  };
  look();
})
"""
PATIENCE = 60_000


def visit(browser: Browser, name: str, url: str) -> dict[str, float]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(url, wait_until="commit")
    seconds = {step: page.evaluate(PAINTED, [selectors[name], PATIENCE]) / 1000 for step, selectors in STEPS.items()}
    context.close()
    return seconds


def measure(browser: Browser, name: str) -> dict[str, float]:
    """Seconds of each step, on a server of its own."""
    with serve(SCRIPTS[name]) as server:
        taken = {LAUNCH: server.seconds}
        for which in ("first", "second"):
            for step, seconds in visit(browser, name, server.url).items():
                taken[f"{which} visit to {step}"] = seconds
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in SCRIPTS}
    with sync_playwright() as playwright:
        browser = launch(playwright, find_chromium())
        visit_nothing = browser.new_context().new_page()
        visit_nothing.goto("about:blank")  # the browser's own start is nobody's
        for _ in range(rounds):
            for name, results in taken.items():
                results.append(measure(browser, name))
        browser.close()

    print(f"Median seconds of {rounds} rounds; the ratio in each round: median, lowest to highest")
    print(f"{'':32}{BARE:>10}{OURS:>12}{'ratio':>8}")
    for step in taken[BARE][0]:
        bare, ours = ([result[step] for result in taken[name]] for name in (BARE, OURS))
        ratios = [mine / its for mine, its in zip(ours, bare, strict=True)]
        print(
            f"{step:32}{statistics.median(bare):>10.2f}{statistics.median(ours):>12.2f}{statistics.median(ratios):>8.2f}"
            f"{min(ratios):>8.2f} to {max(ratios):.2f}"
        )


if __name__ == "__main__":
    main()
