"""What it takes to switch off every head, one by one: all in batches, in a loop, and by TransformerLens.

    python -m benchmarks.cause [--peers | --no-peers] [--lengths 16 64] [--rounds 5] [--threads 1] [--clock cpu]

The writer, then a random network of GPT-2 small's size over the same weights for everybody. The logits without each head, and
after patching the stream, must agree with TransformerLens' within 1e-4. It runs in an environment of its own, which is made
under build/ when it is first needed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
from collections.abc import Callable

import numpy as np
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from tokenizers import models as vocabularies
from transformers import PreTrainedTokenizerFast

import models
from benchmarks.peers import environment, gpt2
from benchmarks.peers.measure import CLOCKS, TOLERANCE
from models.batches import answers, of_trace, read
from models.edits import Head, Stream
from models.huggingface.model import HuggingFaceModel
from models.language_model import LanguageModel
from models.tokens import Token
from models.trace import Trace

TEXT = "Once upon a time there was a little girl who lived in a"
PEER = "cause_through_transformer_lens"
PATCHED = ((0, 3), (4, 7), (11, -1))  # as in the peer
AIMS = {"the writer": 4.0, "GPT-2 small's size": 1.5}


def timed(ways: dict[str, Callable[[], object]], rounds: int, clock: str) -> dict[str, float]:
    """Median seconds of each way; they take turns."""
    now, took = CLOCKS[clock], {name: [] for name in ways}
    for way in ways.values():
        way()
    for _ in range(rounds):
        for name, way in ways.items():
            began = now()
            way()
            took[name].append(now() - began)
    return {name: statistics.median(some) for name, some in took.items()}


def heads_off(model: LanguageModel, trace: Trace) -> dict[str, Callable[[], np.ndarray]]:
    attention = trace.attention["self"]
    edits = [[Head(layer, head)] for layer in range(attention.layers) for head in range(attention.heads)]
    rows = [of_trace(trace, some) for some in edits]
    return {
        "in batches": lambda: answers(model, trace, edits),
        "in a loop": lambda: np.stack([read(model, [row])[0].logits_at(-1) for row in rows]),
    }


def random_gpt2(length: int) -> tuple[HuggingFaceModel, Trace, Trace]:
    """The network, what it makes of `gpt2.tokens`, and of the same backwards."""
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(vocabularies.WordLevel({"?": 0}, unk_token="?")))
    model = HuggingFaceModel(gpt2.twin(gpt2.load(), "sdpa"), tokenizer, "decoder", name="random")
    tokens = [Token(id, "", 0, 0) for id in gpt2.tokens(length)[0].tolist()]
    one, two = (model._traced("", some, 0, None) for some in (tokens, tokens[::-1]))
    return model, one, two


def compare(model: LanguageModel, trace: Trace, other: Trace, off: np.ndarray) -> str:
    """How far TransformerLens' logits are away, heads off and patched."""
    theirs = load_file(gpt2.BUILD / "causes.safetensors")
    edits = [
        [Stream(layer, position % len(trace.tokens), value=other.hidden["self"][layer, position])] for layer, position in PATCHED
    ]
    patched = answers(model, trace, edits)
    far = [float(np.abs(mine - theirs[name].numpy()).max()) for name, mine in (("off", off), ("patched", patched))]
    assert max(far) < TOLERANCE, f"The logits differ from TransformerLens' by {far}."
    return f"logits differ by at most {far[0]:.0e} with a head off, {far[1]:.0e} with the stream patched"


def say(name: str, tokens: int, heads: int, took: dict[str, float]) -> None:
    ratios = " | ".join(f"{1e3 * seconds:.0f} ms ({seconds / took['in batches']:.1f})" for seconds in took.values())
    print(f"| {name}, {heads} heads, {tokens} tokens | {ratios} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--lengths", type=int, nargs="*", default=[16, 64], help="tokens")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--clock", choices=CLOCKS, default="cpu")
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    print(f"{chosen.threads} threads, {chosen.clock} clock, median of {chosen.rounds}; load {os.getloadavg()[0]:.1f}.")
    print("In brackets: over batches.\n\n| all heads off, one by one | in batches | in a loop | TransformerLens, in a loop |")
    print("|---|---|---|---|")
    writer = models.load("writer")
    trace, found = writer.trace(TEXT), []
    took = timed(heads_off(writer, trace), chosen.rounds, chosen.clock)
    found.append(("the writer", took["in a loop"] / took["in batches"]))
    say("the writer", len(trace.tokens), 48, took)
    gpt2.prepare()
    notes = []
    for length in chosen.lengths:
        model, one, two = random_gpt2(length)
        ways = heads_off(model, one)
        took = timed(ways, chosen.rounds, chosen.clock)
        found.append(("GPT-2 small's size", took["in a loop"] / took["in batches"]))
        if chosen.peers:
            asked = {"threads": chosen.threads, "clock": chosen.clock, "rounds": max(1, chosen.rounds // 2), "length": length}
            try:
                its = environment.printed(PEER, json.dumps(asked))
                took["TransformerLens"] = statistics.median(its["seconds"])
                notes.append(f"{length} tokens: {compare(model, one, two, ways['in batches']())}")
            except environment.PeerError as error:
                notes.append(f"TransformerLens could not be measured: {error}")
        say("GPT-2 small's size", length, 144, took)
    print("", *notes, sep="\n")
    for name, ratio in found:
        verdict = "met" if ratio >= AIMS[name] else "missed"
        print(f"Aim: batches at least {AIMS[name]} times as fast as the loop, {name}: {ratio:.1f}, {verdict}.")


if __name__ == "__main__":
    main()
