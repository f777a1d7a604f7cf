"""How much of every architecture page Inside takes apart: each that can be built tiny, and the stages that say they are missing.

    python -m benchmarks.stages [name ...] [--seconds 120] [--gigabytes 4] [--jobs 2]

Each type of configuration is made small (`benchmarks.tiny`) with random weights, in a process of its own. The way of a text
is followed through every layer of every stack, and each stage is held to what the model has there, to 1e-4 of its largest
number, at least of 1. It prints for each: whole; or the stages that are not taken apart, with the reason that the page gives; or
refused with its sentence; or DIFFERS, where a stage that does not say so is another one. It ends with 1 if any does.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import torch
import transformers
from transformers import PreTrainedModel

from analysis import inside
from analysis.inside import steps
from benchmarks import tiny
from benchmarks.architectures import DIFFERS, REFUSED, UNBUILT, bounded, names
from models.errors import ModelError
from models.huggingface.classes import candidates
from models.huggingface.model import HuggingFaceModel
from models.huggingface.trial import part_of
from tests.models.networks import tokenizer

WHOLE, MISSING = "whole", "stages missing"
TEXT = "The cat sat on the mat, and the dog {} on the cat and the mat."
SAID = "Once upon a time there was"


def examine(name: str) -> tuple[str, str]:
    """The verdict on one architecture, and what is missing."""
    kind, choices = tiny.AGAIN.get(name, (name, {}))
    try:
        small = tiny.config(kind, **choices)
        choice = candidates(small, None, kind)[0]
        built = unsettled(tiny.network(choice.cls, part_of(small, choice)))
    except Exception as error:
        return UNBUILT, f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
    try:
        model = HuggingFaceModel(built, tokenizer(choice.kind), choice.kind, choice.head, name)
    except ModelError as error:
        return REFUSED, str(error)
    return look_through(model)


def look_through(model: HuggingFaceModel) -> tuple[str, str]:
    """Whether every stage of a model is taken apart, and what is missing."""
    kind = model.info.kind
    trace = model.trace(TEXT.format("sat" if kind == "decoder" else "<mask>"), SAID if kind == "encoder-decoder" else "")
    missing: dict[str, None] = {}
    for stack, hidden in trace.hidden.items():
        for layer in range(len(hidden) - 1):
            for stage in inside.follow(model, trace, layer, 0, stack).stages[1:]:
                if stage.missing:
                    missing[f"{stack} {stage.name}: {stage.missing}"] = None
                elif (far := steps.apart(stage.calculated(), stage.values)) > 1e-4:
                    return DIFFERS, f"{stage.name} of layer {layer}, {stack}: {far:.2g}"
    return (MISSING, "; ".join(missing)) if missing else (WHOLE, "")


def unsettled(network: PreTrainedModel) -> PreTrainedModel:
    """With biases that are not 0 and weights of norms that are not 1, which would hide that one of them is left out."""
    for parameter in network.requires_grad_(False).parameters():
        if parameter.numel() and bool((parameter == parameter.flatten()[0]).all()):
            parameter += 0.1 * torch.randn(parameter.shape)
    return network


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="only these architectures")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--gigabytes", type=float, default=4)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    transformers.utils.logging.set_verbosity_error()
    asked = arguments.names or names()
    began, counts = time.perf_counter(), Counter[str]()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        verdicts = pool.map(lambda name: bounded(name, arguments.seconds, arguments.gigabytes, examine), asked)
        for name, (verdict, detail) in zip(asked, verdicts, strict=True):
            counts[verdict] += 1
            print(f"{name:42}  {verdict:20}  {detail}", flush=True)
    print(f"\ntransformers {transformers.__version__}, {len(asked)} in {time.perf_counter() - began:.0f} s: ", end="")
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()))
    return int(counts[DIFFERS] > 0)


if __name__ == "__main__":
    sys.exit(main())
