"""Measure the cost of the recorder for a vision transformer of base size: 12 layers × 12 heads, 197 tokens.

    python -m benchmarks.images [--repeats 20] [--threads 2]

A random ViT-base reads one photograph, in turns with the same network with plain SDPA and with eager attention that returns its
maps, all with the same weights and to the same logits, in one process.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from transformers import ViTConfig, ViTForImageClassification, ViTImageProcessorPil

from models.class_labels import Labels
from models.huggingface.image_model import HuggingFaceImageModel
from models.images.written import parse

AIM = 1.05


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


if __name__ == "__main__":
    main()
