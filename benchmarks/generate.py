"""What it costs to generate with all recorded, beside transformers' `generate`; and what keeping keys and values saves.

    python -m benchmarks.generate [--only peer speed press] [--scale 1] [--threads 2] [--clock wall]

The writer beside transformers' Qwen3 with the writer's weights, and a random network of GPT-2 small's size beside itself: the
same tokens, greedily, so many after so many. Ours yields a step a token, with its logits and a row of weights of every layer and
head. Both take turns in the same process. Then tokens a second of ours, with keys and values kept and with everything read again.
At last the app, in a real browser: from a press on “Go on by one” until the next token is painted, beside a key press on page
Type; both pages take turns on one server.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

import torch
from tokenizers import Tokenizer
from tokenizers import models as vocabularies
from torch import nn
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

import models
from benchmarks.peers import gpt2
from benchmarks.peers.measure import CLOCKS
from models.generation.strategy import Strategy
from models.huggingface.model import HuggingFaceModel
from models.language_model import LanguageModel

AIM, PRESS_AIM = 1.05, 1.2
NEW = 32  # tokens that are said
PARTS = ("peer", "speed", "press")
STEPS = 4  # that are timed where all is read again
LENGTHS = {"the writer": {16: 24, 64: 16, 220: 12}, "GPT-2 small's size": {16: 8, 64: 8, 256: 6, 992: 4}}  # tokens before: pairs
SPEEDS = {"the writer": (64, 252), "GPT-2 small's size": (64, 256, 1020)}


@dataclass(frozen=True)
class Pair:
    """A model as Headlight has it, and the same weights as transformers has them."""

    name: str
    model: LanguageModel
    peer: nn.Module

    def prompt(self, length: int) -> list[int]:
        ids = torch.randint(1, 8000, (length - 1,), generator=torch.Generator().manual_seed(length))
        return ids.tolist()

    def ours(self, length: int, new: int = NEW, cache: bool = True) -> list[int]:
        self.model.forget()
        *_, last = self.model.generate("", Strategy(), new, continuation=self.prompt(length), cache=cache)
        return list(last.continuation[length - 1 :])

    def theirs(self, length: int) -> list[int]:
        start = self.model.tokenize("")[0].id
        ids = torch.tensor([[start, *self.prompt(length)]])
        with torch.inference_mode():
            output = self.peer.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=NEW, do_sample=False)
        return output[0, length:].tolist()


def writer() -> Pair:
    model = models.load("writer")
    c, ours = model.network.config, model.network
    theirs = Qwen3ForCausalLM._from_config(
        Qwen3Config(
            vocab_size=c.vocabulary,
            hidden_size=c.d_model,
            intermediate_size=c.d_ff,
            num_hidden_layers=c.layers,
            num_attention_heads=c.heads,
            num_key_value_heads=c.key_heads,
            head_dim=c.d_head,
            max_position_embeddings=c.context,
            rms_norm_eps=torch.finfo(torch.float32).eps,
            tie_word_embeddings=True,
            eos_token_id=None,
            bos_token_id=None,
        ),
        attn_implementation="sdpa",
    ).eval()
    names = {
        "attention.query": "self_attn.q_proj",
        "attention.key": "self_attn.k_proj",
        "attention.value": "self_attn.v_proj",
        "attention.output": "self_attn.o_proj",
        "attention.query_norm": "self_attn.q_norm",
        "attention.key_norm": "self_attn.k_norm",
        "attention_norm": "input_layernorm",
        "feedforward_norm": "post_attention_layernorm",
        "feedforward.gate": "mlp.gate_proj",
        "feedforward.up": "mlp.up_proj",
        "feedforward.down": "mlp.down_proj",
    }
    theirs.model.embed_tokens.load_state_dict(ours.embedding.state_dict())
    theirs.model.norm.load_state_dict(ours.final_norm.state_dict())
    for block, layer in zip(ours.blocks, theirs.model.layers, strict=True):
        for mine, its in names.items():
            layer.get_submodule(its).load_state_dict(block.get_submodule(mine).state_dict())
    return Pair("the writer", model, theirs)


def small() -> Pair:
    gpt2.prepare()
    network = gpt2.load()
    network.generation_config.eos_token_id = None  # a random network would end anywhere
    words = {"?": 0} | {f"<{id}>": id for id in range(1, gpt2.VOCABULARY)}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(vocabularies.WordLevel(words, unk_token="?")))
    model = HuggingFaceModel(gpt2.twin(network, "sdpa"), tokenizer, "decoder", name="random")
    model.network.generation_config.eos_token_id = None
    return Pair("GPT-2 small's size", model, network)


def compared(pair: Pair, length: int, count: int, clock: Callable[[], float]) -> tuple[float, float, list[float]]:
    """Median seconds a token of both, and the quartiles of the ratio within pairs; now one goes first and now the other."""
    assert pair.ours(length) == pair.theirs(length), "both say the same"
    gc.collect()
    taken = []
    for number in range(count):
        seconds = {}
        for run in (pair.ours, pair.theirs) if number % 2 else (pair.theirs, pair.ours):
            began = clock()
            run(length)
            seconds[run.__name__] = (clock() - began) / NEW
        taken.append((seconds["ours"], seconds["theirs"]))
    ours, theirs = (statistics.median(column) for column in zip(*taken, strict=True))
    return ours, theirs, statistics.quantiles((a / b for a, b in taken), n=4)


def speed(pair: Pair, length: int, cache: bool, clock: Callable[[], float]) -> float:
    """Tokens a second, the reading of the text itself left out: the median of single steps around this length."""
    pair.model.forget()
    prompt = pair.prompt(length - STEPS // 2)
    steps = pair.model.generate("", Strategy(), STEPS + 1, continuation=prompt, cache=cache)
    next(steps)
    taken = []
    for _ in range(STEPS):
        began = clock()
        next(steps)
        taken.append(clock() - began)
    steps.close()
    return 1 / statistics.median(taken)


def folder(pair: Pair) -> str:
    """The model's name in the app; the random network is a folder, with the writer's tokenizer and names for the other tokens."""
    if pair.name == "the writer":
        return "writer"
    tokenizer = json.loads(models.load("writer").vocabulary.tokenizer.to_str())
    tokenizer["model"]["vocab"] |= {f"<{id}>": id for id in range(len(tokenizer["model"]["vocab"]), gpt2.VOCABULARY)}
    PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(json.dumps(tokenizer))).save_pretrained(gpt2.WEIGHTS)
    return str(gpt2.WEIGHTS)


def press_all(pairs: list[Pair], count: int) -> None:
    """What a press takes in the app, printed."""
    from playwright.sync_api import sync_playwright

    from benchmarks.keystroke import Press, in_turns, row
    from tests.serving import find_chromium, launch, serve

    if (chromium := find_chromium()) is None:
        print("No browser is here, so presses are not measured.")
        return
    step = Press(
        "/generate",
        ".st-key-generate-board",
        lambda page: page.get_by_role("button", name="Go on by one", exact=True),
        ["Enter"],
    )
    print("\n| from a press to painted, median (p95) ms | a step on Generate | a key on Type | ratio, median (quartiles) |")
    print("|---" * 4 + "|")
    with serve() as server, sync_playwright() as playwright:
        browser = launch(playwright, chromium)
        for pair in pairs:
            link = f"level=intermediate&model={quote(folder(pair))}"
            print(row(pair.name, in_turns(browser, server.url, link, step, count))[0], flush=True)
        browser.close()
    print(f"\nAim: at most {PRESS_AIM} times a key press on Type.")


def compare_all(pairs: list[Pair], scale: float, clock: Callable[[], float]) -> None:
    """What a token takes us, and transformers, printed."""
    print(f"| {NEW} tokens, greedily | after | ours, recorded, ms a token | transformers' generate | ratio, median (quartiles) |")
    print("|---" * 5 + "|")
    slower = []
    for pair in pairs:
        for length, count in LENGTHS[pair.name].items():
            ours, theirs, (low, middle, high) = compared(pair, length, max(3, round(count * scale)), clock)
            slower += [f"{pair.name} after {length}: {middle:.2f}"] if middle > AIM else []
            print(f"| {pair.name} | {length} | {1e3 * ours:.2f} | {1e3 * theirs:.2f} ", end="")
            print(f"| {middle:.2f} ({low:.2f}–{high:.2f}) |", flush=True)
    print(f"\nAim: at most {AIM} times transformers' generate. {'Missed: ' + '; '.join(slower) if slower else 'Met'}.\n")


def speed_all(pairs: list[Pair], clock: Callable[[], float]) -> None:
    """Tokens a second, printed."""
    print("| tokens a second | at | with keys and values kept | all read again | times |")
    print("|---" * 5 + "|")
    for pair in pairs:
        for length in SPEEDS[pair.name]:
            cached, uncached = (statistics.median(speed(pair, length, cache, clock) for _ in range(3)) for cache in (True, False))
            print(f"| {pair.name} | {length} | {cached:.1f} | {uncached:.2f} | {cached / uncached:.1f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="more or fewer repeats: 2 for twice as many")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=PARTS)
    parser.add_argument("--presses", type=int, default=30)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="cpu, with --threads 1, on a busy machine")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    clock, pairs = CLOCKS[arguments.clock], [writer(), small()]
    print(f"float32, {arguments.threads} threads, {arguments.clock} clock; load {os.getloadavg()[0]:.1f}.\n")
    if "peer" in arguments.only:
        compare_all(pairs, arguments.scale, clock)
    if "speed" in arguments.only:
        speed_all(pairs, clock)
    if "press" in arguments.only:
        press_all(pairs, arguments.presses)


if __name__ == "__main__":
    main()
