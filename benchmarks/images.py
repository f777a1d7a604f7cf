"""Measure the cost of the recorder for a vision transformer of base size: 12 layers × 12 heads, 197 tokens.

    python -m benchmarks.images [--repeats 20] [--threads 2]

A random ViT-base reads one photograph, in turns with the same network with plain SDPA and with eager attention that returns its
maps, all with the same weights and to the same logits, in one process. Then the map of one head over the image follows the
pointer in Chromium: the handler and the layout after it, the median over 50 patches.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from playwright.sync_api import sync_playwright
from transformers import ViTConfig, ViTForImageClassification, ViTImageProcessorPil

from models.class_labels import Labels
from models.huggingface.image_model import HuggingFaceImageModel
from models.images.written import parse
from tests.serving import find_chromium, launch
from viz import patch_view

AIM, FOLLOWS = 1.05, 20  # times plain; milliseconds
HOVERS = """async () => {
  const took = [], patches = [...document.querySelectorAll(".hl-patch-view .patch")];
  for (let i = 0; i < 50; i++) {
    const start = performance.now();
    patches[(i * 37) % patches.length].dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
    document.body.getBoundingClientRect();
    took.push(performance.now() - start);
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  }
  return [took, document.querySelector(".hl-patch-view .sentence").textContent]; }"""


def network(attention: str) -> ViTForImageClassification:
    torch.manual_seed(0)
    config = ViTConfig(num_labels=10)
    config._attn_implementation = attention
    return ViTForImageClassification(config).eval()


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    with torch.inference_mode():
        work()
    return time.perf_counter() - began


def follow(model: HuggingFaceImageModel, image: str) -> None:
    """Print how long the map of a head takes to follow the pointer over the image."""
    if (path := find_chromium()) is None:
        print("No Chromium or Chrome, so the map is not measured.")
        return
    trace = model.trace(image)
    view = patch_view(model.grid.image_of(trace.tokens), trace.tokens, trace.attention["self"][6][0])
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "map.html"
        file.write_text(view.to_html(), "utf-8")
        page = launch(playwright, path).new_page(viewport={"width": 1280, "height": 900})
        page.goto(file.as_uri())
        page.wait_for_selector(".hl-patch-view .patch")
        took, sentence = page.evaluate(HOVERS)
    middle = statistics.median(took)
    print(f"\nThe map follows the pointer within {middle:.1f} ms (the slowest of 50: {max(took):.1f} ms; “{sentence[:60]}…”).")
    print(f"Aim: at most {FOLLOWS} ms. {'Met' if middle <= FOLLOWS else 'Missed'}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    plain, eager = network("sdpa"), network("eager")
    processor = ViTImageProcessorPil(size={"height": 224, "width": 224})
    labels = Labels(tuple(map(str, range(10))))
    model = HuggingFaceImageModel(network("sdpa"), processor, predicts=True, name="random ViT-base", labels=labels)
    image = model.read_image(parse("photo flower").pixels())
    pixels = torch.from_numpy(model.grid.pixels(image.tokens))[None]
    ways: dict[str, Callable[[], object]] = {
        "plain SDPA": lambda: plain(pixels),
        "Headlight: queries, keys, values, residual stream, one layer's maps": lambda: model.trace(image).attention["self"][6],
        "transformers, eager, output_attentions": lambda: eager(pixels, output_attentions=True),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for repeat in range(arguments.repeats + 2):
        for name, work in ways.items():
            took = seconds(work)
            if repeat > 1:
                times[name].append(took)
    print(f"A random ViT of base size, 197 tokens, {arguments.threads} threads, {arguments.repeats} readings each in turns.\n")
    print("| | ms, median | over plain, median of pairs |\n|---|---|---|")
    ratios = {}
    for name, each in times.items():
        pairs = zip(each, times["plain SDPA"], strict=True)
        ratios[name] = statistics.median(taken / of_plain for taken, of_plain in pairs)
        print(f"| {name} | {1e3 * statistics.median(each):.0f} | {ratios[name]:.3f} |")
    ours = next(ratio for name, ratio in ratios.items() if name.startswith("Headlight"))
    print(f"\nAim: at most {AIM} times plain. {'Met' if ours <= AIM else 'Missed'}: {ours:.3f}.")

    follow(model, image)


if __name__ == "__main__":
    main()
