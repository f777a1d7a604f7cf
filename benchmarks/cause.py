"""What it takes to switch off every head, and to patch every place of the stream, one by one: in batches, in a loop, and by
TransformerLens; and what a press on a head takes in the app.

    python -m benchmarks.cause [--only heads patches press] [--peers | --no-peers] [--lengths 16 64] [--rounds 5] [--threads 1]

The writer, then a random network of GPT-2 small's size over the same weights for everybody. The logits without each head, and
after patching the stream after each layer at each position from another text, must agree with TransformerLens' within 1e-4. It
runs in an environment of its own, which is made under build/ when it is first needed. At last the app, in a real browser: from
a press on a head of page Change until the new prediction is painted, beside a key press on page Type; both pages take turns on
one server.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from tokenizers import models as vocabularies
from transformers import PreTrainedTokenizerFast

import models
from benchmarks.peers import environment, gpt2
from benchmarks.peers.measure import CLOCKS, TOLERANCE
from models.editing.batches import answers, of_trace, read
from models.edits import Head, Stream
from models.huggingface.model import HuggingFaceModel
from models.language_model import LanguageModel
from models.tokens import Token
from models.trace import Trace

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

TEXT = "Once upon a time there was a little girl who lived in a"
PEER = "cause_through_transformer_lens"
PATCHED_TOKENS = 16  # of longer texts every place of every layer takes minutes in a loop
AIMS = {"the writer": 4.0, "GPT-2 small's size": 1.5}
PRESS_AIM = 1.3
LAYERS = 6  # of the writer


def timed(ways: dict[str, Callable[[], object]], rounds: int, clock: str) -> dict[str, float]:
    """Median seconds of each way; they take turns."""
    read_clock, took = CLOCKS[clock], {name: [] for name in ways}
    for way in ways.values():
        way()
    for _ in range(rounds):
        for name, way in ways.items():
            began = read_clock()
            way()
            took[name].append(read_clock() - began)
    return {name: statistics.median(some) for name, some in took.items()}


def heads_off(model: LanguageModel, trace: Trace, other: Trace | None = None) -> dict[str, Callable[[], np.ndarray]]:
    attention = trace.attention["self"]
    edits = [[Head(layer, head)] for layer in range(attention.layers) for head in range(attention.heads)]
    rows = [of_trace(trace, some) for some in edits]
    return {
        "in batches": lambda: answers(model, trace, edits),
        "in a loop": lambda: np.stack([read(model, [row])[0].logits_at(-1) for row in rows]),
    }


def patched(model: LanguageModel, trace: Trace, other: Trace) -> dict[str, Callable[[], np.ndarray]]:
    """The stream that each block is given, at each position, from the other text."""
    stream = other.hidden["self"]
    edits = [[Stream(layer, at, value=stream[layer, at])] for layer, at in np.ndindex(stream.shape[0] - 1, stream.shape[1])]
    rows = [of_trace(trace, some) for some in edits]
    return {
        "in batches": lambda: answers(model, trace, edits),
        "in a loop": lambda: np.stack([read(model, [row])[0].logits_at(-1) for row in rows]),
    }


WAYS = {"heads": heads_off, "patches": patched}
PARTS = (*WAYS, "press")


def random_gpt2(length: int) -> tuple[HuggingFaceModel, Trace, Trace]:
    """The network, what it makes of `gpt2.tokens`, and of the same backwards."""
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(vocabularies.WordLevel({"?": 0}, unk_token="?")))
    model = HuggingFaceModel(gpt2.twin(gpt2.load(), "sdpa"), tokenizer, "decoder", name="random")
    tokens = [Token(id, "", 0, 0) for id in gpt2.tokens(length)[0].tolist()]
    trace, backwards = (model.trace_tokens("", some, 0, None) for some in (tokens, tokens[::-1]))
    return model, trace, backwards


def say(name: str, tokens: int, count: int, took: dict[str, float]) -> None:
    ratios = " | ".join(f"{1e3 * seconds:.0f} ms ({seconds / took['in batches']:.1f})" for seconds in took.values())
    print(f"| {name}, {count} of them, {tokens} tokens | {ratios} |", flush=True)


def compare(what: str, chosen: argparse.Namespace) -> None:
    """Batches, the loop and TransformerLens, printed. what: of `WAYS`."""
    title = {"heads": "all heads off, one by one", "patches": "the stream patched, layer × position"}[what]
    print(f"\n| {title} | in batches | in a loop | TransformerLens, in a loop |\n|---|---|---|---|")
    writer, notes, ratios = models.load("writer"), [], []
    trace = writer.trace(TEXT)
    backwards = writer.trace([trace.tokens[0].id, *(token.id for token in trace.tokens[:0:-1])])
    took = timed(ways := WAYS[what](writer, trace, backwards), chosen.rounds, chosen.clock)
    ratios.append(("the writer", took["in a loop"] / took["in batches"]))
    say("the writer", len(trace.tokens), len(ways["in batches"]()), took)
    for length in (length for length in chosen.lengths if what == "heads" or length <= PATCHED_TOKENS):
        model, trace, backwards = random_gpt2(length)
        ways = WAYS[what](model, trace, backwards)
        took = timed(ways, chosen.rounds, chosen.clock)
        ratios.append(("GPT-2 small's size", took["in a loop"] / took["in batches"]))
        mine = ways["in batches"]()
        if chosen.peers:
            asked = {
                "threads": chosen.threads,
                "clock": chosen.clock,
                "rounds": max(1, chosen.rounds // 2),
                "length": length,
                "what": what,
            }
            try:
                took["TransformerLens"] = statistics.median(environment.printed(PEER, json.dumps(asked))["seconds"])
                far = float(np.abs(mine - load_file(gpt2.BUILD / "causes.safetensors")[what].numpy()).max())
                assert far < TOLERANCE, f"The logits differ from TransformerLens' by {far}."
                notes.append(f"{length} tokens: logits differ from TransformerLens' by at most {far:.0e}")
            except environment.PeerError as error:
                notes.append(f"TransformerLens could not be measured: {error}")
        say("GPT-2 small's size", length, len(mine), took)
    print("", *notes, sep="\n")
    for name, ratio in ratios:
        verdict = "met" if ratio >= AIMS[name] else "missed"
        print(f"Aim: batches at least {AIMS[name]} times as fast as the loop, {name}: {ratio:.1f}, {verdict}.")


def last_head(page: Page) -> Locator:
    """The last head of the last layer has the keyboard: of the writer's, one that all three ways tell apart in whole per cent."""
    heads = page.locator("[data-part='parts']").get_by_role("grid")
    heads.focus()
    for key in ("End", *["ArrowDown"] * LAYERS):
        page.keyboard.press(key)
    return heads


def press_all(count: int) -> None:
    """What a press on a head takes in the app, and a key press beside it, printed."""
    from playwright.sync_api import sync_playwright

    from benchmarks.keystroke import Press, in_turns, row
    from tests.serving import find_chromium, launch, serve

    if (chromium := find_chromium()) is None:
        print("No browser is here, so presses are not measured.")
        return
    head = Press("/change", "[data-part='bars']", last_head, ["Enter"])  # off, its mean, and on again
    print("\n| from a press to painted, median (p95) ms | a head on Change | a key on Type | ratio, median (quartiles) |")
    print("|---" * 4 + "|")
    ratios = {}
    with serve() as server, sync_playwright() as playwright:
        browser = launch(playwright, chromium)
        for level in ("beginner", "expert"):
            line, ratios[level] = row(level, in_turns(browser, server.url, f"level={level}", head, count))
            print(line, flush=True)
        browser.close()
    print()
    for level, ratio in ratios.items():
        verdict = "met" if ratio <= PRESS_AIM else "missed"
        print(f"Aim: at most {PRESS_AIM} times a key press on Type, {level}: {ratio:.2f}, {verdict}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS, nargs="+", default=PARTS)
    parser.add_argument("--peers", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--lengths", type=int, nargs="*", default=[16, 64], help="tokens")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--presses", type=int, default=30)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--clock", choices=CLOCKS, default="cpu")
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    print(f"{chosen.threads} threads, {chosen.clock} clock, median of {chosen.rounds}; load {os.getloadavg()[0]:.1f}.")
    print("In brackets: over batches.")
    gpt2.prepare()
    for what in WAYS:
        if what in chosen.only:
            compare(what, chosen)
    if "press" in chosen.only:
        press_all(chosen.presses)


if __name__ == "__main__":
    main()
