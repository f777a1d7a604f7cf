"""Time to read the texts of several visitors who type at the same moment, in one pass and one by one.

    python -m benchmarks.together [--texts 1 2 4 8 16] [--rounds 15] [--models writer small] [--threads 1] [--clock wall]

Each visitor has a text of their own, whose beginning has been read, and has typed one more word; the scores of what comes next
are part of it. Both ways take turns, in changing order, and must give the same numbers within 1e-4 of the largest. "small" is a
random network of GPT-2 small's size. Printed is the median for each text, in milliseconds, and the median of the ratios.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Sequence

import numpy as np
import torch

import models
from benchmarks.peers.measure import CLOCKS, TOLERANCE
from models.language_model import LanguageModel
from models.reading import together
from models.reading.prefix import reading_for
from models.trace import Trace

NAMES = (
    "Anna",
    "Bert",
    "Cora",
    "Dan",
    "Emma",
    "Fritz",
    "Greta",
    "Hans",
    "Ida",
    "Jan",
    "Kim",
    "Lea",
    "Max",
    "Nora",
    "Otto",
    "Pia",
)
STORY = "saw that the farmer gave the hungry dog a bone, and the dog ran into the garden with it, where the cat sat in the sun"
WORDS = 12  # that have been read


def small() -> LanguageModel:
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    from models.huggingface.model import HuggingFaceModel

    torch.manual_seed(0)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=models.load("writer").vocabulary.tokenizer)
    network = GPT2LMHeadModel(GPT2Config(initializer_range=0.05))
    return HuggingFaceModel(network, tokenizer, "decoder", name="a network of GPT-2 small’s size")


MODELS: dict[str, Callable[[], LanguageModel]] = {"writer": lambda: models.load("writer"), "small": small}


def one_by_one(model: LanguageModel, texts: Sequence[str]) -> list[Trace]:
    traces = []
    for text in texts:
        with reading_for(text[:20]):
            traces.append(model.trace(text))
        traces[-1].scores_at(-1)
    return traces


def in_one_pass(model: LanguageModel, texts: Sequence[str]) -> list[Trace]:
    requests = []
    for text in texts:
        with reading_for(text[:20]):
            requests.append(model.request(text))
    outcomes = together.traces(model, requests)
    for trace in outcomes:
        assert isinstance(trace, Trace), trace
        trace.scores_at(-1)
    return outcomes


def measure(model: LanguageModel, count: int, rounds: int, clock: Callable[[], float]) -> tuple[float, float, float]:
    """Milliseconds for each text one by one, in one pass, and their ratio: medians."""
    words, durations = STORY.split(), []
    beginnings = [f"{NAMES[i % len(NAMES)]}{'!' * (i // len(NAMES))} {' '.join(words[:WORDS])}" for i in range(count)]
    for number in range(rounds):
        texts = [f"{beginning} {words[WORDS + number % (len(words) - WORDS)]}" for beginning in beginnings]
        seconds, scores = {}, {}
        ways = (one_by_one, in_one_pass)
        for way in ways if number % 2 else ways[::-1]:
            model.forget()
            one_by_one(model, beginnings)
            began = clock()
            traces = way(model, texts)
            seconds[way] = (clock() - began) * 1e3 / count
            scores[way] = np.stack([trace.scores_at(-1) for trace in traces])
        differs = np.abs(scores[one_by_one] - scores[in_one_pass]).max() / np.abs(scores[one_by_one]).max()
        assert differs < TOLERANCE, f"the scores differ by {differs:.2g} of the largest"
        durations.append((seconds[one_by_one], seconds[in_one_pass]))
    alone, beside = (statistics.median(times) for times in zip(*durations, strict=True))
    return alone, beside, statistics.median(b / a for a, b in durations)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    for name in arguments.models:
        model = MODELS[name]()
        print(f"{model.info.name}: texts of up to {model.trial.longest} tokens are read together")
        print(f"{'texts at once':>15}  {'one by one':>12}  {'in one pass':>12}  {'ratio':>6}")
        for count in arguments.texts:
            alone, beside, ratio = measure(model, count, arguments.rounds, CLOCKS[arguments.clock])
            print(f"{count:>15}  {alone:>9.2f} ms  {beside:>9.2f} ms  {ratio:>6.2f}")


if __name__ == "__main__":
    main()
