"""The head view beside BertViz's, on the same weights: 12 layers of 12 heads, causal, at 16 to 1,024 tokens.

    python -m benchmarks.views [--sizes 16 64 128 256 512 1024] [--patience 60]

Both are pages opened from disk in one Chromium. "Drawn" is counted from the start of the navigation until the page has its
picture and two animation frames have passed (ours: the median of three times); a layer switch from the event until two frames
later (ours includes making the other layer's bytes in Python; BertViz's has every layer in its page); a hover is the handler and
the layout after it, the median over twenty tokens. The heap includes the buffers of typed arrays. BertViz's page is its own, with
d3 and jQuery inside instead of on a CDN; sizes at which it would take longer than `--patience` seconds or 600 MB of HTML, by
the size before, are left out. The reading view, which has no counterpart there, shows one head.
"""

from __future__ import annotations

import argparse
import base64
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
from bertviz import head_view as bertviz_head_view
from playwright.sync_api import Error, Page, sync_playwright

from tests.serving import find_chromium, launch
from viz import View, head_view, reading_view
from viz.bertviz import libraries

LAYERS = HEADS = 12
WORDS = ["the", "farmer", "gave", "hungry", "dog", "bone", "and", "ran", "into", "garden", "where", "cat", "sat"]

FRAMES = "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))"
DRAWN = f"async () => {{ await {FRAMES}; return performance.now() / 1000; }}"
SIGN = {
    "Headlight": "document.querySelector('.hl .sentence')?.textContent",
    "BertViz": "document.querySelector('svg #right .attentionBoxes rect')",
}
OURS_SWITCH = f"""async (text) => {{
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0)), start = performance.now();
  headlight.draw(bytes); await {FRAMES}; return (performance.now() - start) / 1000; }}"""
BERTVIZ_SWITCH = f"""async () => {{
  const start = performance.now(), select = document.querySelector("#layer");
  select.value = 1; select.dispatchEvent(new Event("change", {{ bubbles: true }}));
  await {FRAMES}; return (performance.now() - start) / 1000; }}"""
HOVERS = """async (who) => {
  const mine = who === "Headlight", reading = who === "reading";
  const took = [], box = document.querySelector(mine ? ".stage" : reading ? ".text" : "svg").getBoundingClientRect();
  const all = reading ? ".word" : mine ? ".none" : "#left > g:not(.attentionBoxes) > g, #left .background";
  const tokens = [...document.querySelectorAll(all)];
  for (let i = 0; i < 20; i++) {
    const place = { bubbles: true, clientX: box.x + 40, clientY: box.y + (box.height * (i + 0.5)) / 20, screenX: i, screenY: i };
    const target = mine ? document.querySelector(".side.from") : tokens[Math.floor(((i + 0.5) * tokens.length) / 20)];
    const start = performance.now();
    target.dispatchEvent(
      mine || reading ? new PointerEvent(mine ? "pointermove" : "pointerover", place) : new MouseEvent("mouseover", place));
    document.body.getBoundingClientRect();
    took.push((performance.now() - start) / 1000);
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  }
  return took; }"""


def softmax(count: int) -> np.ndarray:
    """Random causal attention of one layer, [heads, query, key]: a few keys take most of each row, as in trained heads."""
    scores = np.random.default_rng(count).normal(0, 3, (HEADS, count, count)).astype(np.float32)
    scores[:, np.triu(np.ones((count, count), dtype=bool), 1)] = -np.inf
    scores -= scores.max(-1, keepdims=True)
    np.exp(scores, out=scores)
    return scores / scores.sum(-1, keepdims=True)


def bertviz_page(layers: list[np.ndarray], words: list[str]) -> str:
    html = bertviz_head_view([torch.from_numpy(layer)[None] for layer in layers], words, html_action="return").data
    start, end = html.index("<script src="), html.index("</script>") + len("</script>")
    scripts = f"<script>{libraries()};require.config = () => {{}};</script>"
    return f"<!doctype html><meta charset='utf-8'>{html[:start]}{scripts}{html[end:]}"


def opened(page: Page, file: Path, who: str, patience: float) -> float:
    page.goto(file.as_uri(), wait_until="commit", timeout=1000 * patience)
    page.wait_for_function(SIGN[who], timeout=1000 * patience, polling="raf")
    return page.evaluate(DRAWN)


def heap(page: Page) -> float:
    """Megabytes that the page holds after a collection."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    usage = session.send("Runtime.getHeapUsage")
    return (usage["usedSize"] + usage.get("backingStorageSize", 0)) / 1e6


def head(tokens: list[SimpleNamespace], weights: np.ndarray) -> View:
    return head_view(tokens, tokens, weights, layer=0)


def reading(tokens: list[SimpleNamespace], weights: np.ndarray) -> View:
    return reading_view(tokens, weights[0])


def ours(browser, count: int, folder: Path, patience: float, make: Callable[..., View] = head) -> dict[str, float]:
    tokens = [SimpleNamespace(text=" " + WORDS[i % len(WORDS)], special=False, fragment=False) for i in range(count)]
    layers = [softmax(count), softmax(count)[::-1]]
    builds = []
    for layer in layers:
        start = time.perf_counter()
        view = make(tokens, layer)
        builds.append(time.perf_counter() - start)
    html = view.to_html()
    file = folder / f"ours{count}.html"
    file.write_text(html, encoding="utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    drawn = statistics.median(opened(page, file, "Headlight", patience) for _ in range(3))
    data = base64.b64encode(view.data).decode()
    switches = [page.evaluate(OURS_SWITCH, data) for _ in range(9)]
    row = {
        "build": builds[0],
        "bytes": len(html.encode()),
        "message": len(view.data),
        "drawn": drawn,
        "arrival": statistics.median(switches),
        "switch": builds[1] + statistics.median(switches),
        "hover": statistics.median(page.evaluate(HOVERS, "Headlight" if make is head else "reading")),
        "heap": heap(page),
    }
    page.close()
    return row


def bertviz(browser, count: int, folder: Path, patience: float) -> dict[str, float]:
    start = time.perf_counter()
    html = bertviz_page([softmax(count)] * LAYERS, [WORDS[i % len(WORDS)] for i in range(count)])
    build = time.perf_counter() - start
    file = folder / f"bertviz{count}.html"
    size = file.write_text(html, encoding="utf-8")
    del html
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    drawn = opened(page, file, "BertViz", patience)
    row = {"build": build, "bytes": size, "drawn": drawn, "switch": page.evaluate(BERTVIZ_SWITCH)}
    row |= {"hover": statistics.median(page.evaluate(HOVERS, "BertViz")), "heap": heap(page)}
    page.close()
    file.unlink()
    return row


def too_much(before: dict[str, float], growth: float, patience: float) -> str:
    """Why the next size is not tried, going by the one before; empty where it is."""
    if (seconds := growth * max(before["build"], before["drawn"])) > patience:
        return f"about {seconds:.0f} s expected"
    if (size := growth * before["bytes"]) > 600e6:
        return f"about {size / 1e6:,.0f} MB of HTML expected"
    return ""


def line(count: int, who: str, row: dict[str, float] | str) -> str:
    if isinstance(row, str):
        return f"| {count:,} | {who} | left out: {row} | | | | | |"
    size = f"{row['bytes'] / 1e6:,.2f}"
    times = f"{row['build']:.3f} | {size} | {row['drawn']:.2f} | {row['switch']:.3f} | {1000 * row['hover']:.1f}"
    return f"| {count:,} | {who} | {times} | {row['heap']:,.1f} |"


def verdicts(mine: dict[int, dict], theirs: dict[int, dict], text: dict[int, dict]) -> list[str]:
    def judge(subject: str, value: float, aim: float, unit: str = "%") -> str:
        return f"{'met' if value <= aim else 'MISSED'}: {subject}: {value:.3g} {unit} (aim {aim:g} {unit})"

    lines = []
    if 128 in mine and 128 in theirs:
        lines.append(judge("128 tokens, bytes against BertViz", 100 * mine[128]["bytes"] / theirs[128]["bytes"], 0.3))
        lines.append(judge("128 tokens, page open to drawn against BertViz", 100 * mine[128]["drawn"] / theirs[128]["drawn"], 5))
        lines.append(judge("128 tokens, data to drawn against BertViz", 100 * mine[128]["arrival"] / theirs[128]["drawn"], 5))
    if 1024 in mine:
        lines.append(judge("1,024 tokens, data to drawn", 1000 * mine[1024]["arrival"], 100, "ms"))
        lines.append(judge("1,024 tokens, a hover", 1000 * mine[1024]["hover"], 5, "ms"))
        lines.append(judge("1,024 tokens, a hover in the reading view", 1000 * text[1024]["hover"], 5, "ms"))
    if {128, 1024} <= mine.keys():
        lines.append(judge("1,024 tokens, page open to drawn against 128", mine[1024]["drawn"] / mine[128]["drawn"], 3, "times"))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[16, 64, 128, 256, 512, 1024])
    parser.add_argument("--patience", type=float, default=60)
    arguments = parser.parse_args()
    path = find_chromium()
    if path is None:
        raise SystemExit("No Chromium or Chrome: name one with CHROMIUM=/path/to/chrome.")
    mine, text, theirs, skipped = {}, {}, {}, ""
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as name:
        browser = launch(playwright, path)
        opened_once = browser.new_page()  # the first page of a browser pays for its start
        opened_once.close()
        print("| tokens | view | build, s | page, MB | open to drawn, s | layer switch, s | hover, ms | heap, MB |")
        print("|---:|---|---:|---:|---:|---:|---:|---:|")
        for i, count in enumerate(arguments.sizes):
            mine[count] = ours(browser, count, Path(name), arguments.patience)
            print(line(count, "Headlight", mine[count]), flush=True)
            text[count] = ours(browser, count, Path(name), arguments.patience, reading)
            print(line(count, "Headlight, reading view", text[count]), flush=True)
            if i and not skipped and arguments.sizes[i - 1] in theirs:
                last = arguments.sizes[i - 1]
                skipped = too_much(theirs[last], (count / last) ** 2, arguments.patience)
            if not skipped:
                try:
                    theirs[count] = bertviz(browser, count, Path(name), arguments.patience)
                except Error as error:
                    skipped = str(error).splitlines()[0]
                    if not browser.is_connected():
                        browser = launch(playwright, path)
            print(line(count, "BertViz", theirs.get(count, skipped)), flush=True)
        browser.close()
    print()
    for count, row in mine.items():
        print(f"{count:,} tokens: {row['message'] / 1e6:.3f} MB a layer, drawn {1000 * row['arrival']:.0f} ms after they arrive")
    print()
    print("\n".join(verdicts(mine, theirs, text)))


if __name__ == "__main__":
    main()
