"""What the recorder costs beside a plain forward pass, and what the others who show attention cost.

    python -m benchmarks.capture [--peers transformer_lens nnsight | none] [--scale 1] [--threads 2] [--clock wall]

First the writer, with the recorder and without. Then a random network of GPT-2 small's size: each way of reading takes turns
with a plain forward pass over the same weights in the same process. The peers run in an environment of their own, which is
made under build/ when it is first needed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time

import torch
from tokenizers import Tokenizer
from tokenizers import models as vocabularies
from transformers import PreTrainedTokenizerFast

import models
from benchmarks.peers import environment, gpt2
from benchmarks.peers.measure import CLOCKS, LAYER, LENGTHS, LONGEST, Settings, Way, measure
from models.attention.recorder import recording
from models.attention.side_by_side import Part
from models.huggingface.model import HuggingFaceModel
from models.tokens import Token
from models.trace import Attention

REPEATS = 60
AIM = 1.05
OURS = "Headlight: queries, keys, values, residual stream"
HEADING = """
A random GPT-2 small, float32, inference mode: from ids to the logits of the last position and the maps of one layer, as a ratio
to plain: the same weights with SDPA in the same process, to the same logits. {threads} threads, {clock} clock; load {load:.1f}.
"""


def seconds(ids: torch.Tensor, decoder, record: bool) -> float:
    began = time.perf_counter()
    with torch.inference_mode():
        if record:
            with recording():
                decoder.hidden(ids)
        else:
            decoder.hidden(ids)
    return time.perf_counter() - began


def writer() -> None:
    decoder = models.load("writer").decoder
    print("The writer: a forward pass with the recorder and without.\n")
    print(f"{'tokens':>6}  {'plain ms':>9}  {'recorded ms':>11}  {'ratio, median of pairs':>22}")
    for length in (16, 64, 256):
        ids = torch.randint(1, 8000, (1, length))
        pairs = []
        for repeat in range(REPEATS + 5):
            first = bool(repeat % 2)
            times = {first: seconds(ids, decoder, first)}
            times[not first] = seconds(ids, decoder, not first)
            pairs.append((times[False], times[True]))
        plain, recorded = (statistics.median(column) for column in zip(*pairs[5:], strict=True))
        ratio = statistics.median(b / a for a, b in pairs[5:])
        print(f"{length:>6}  {1e3 * plain:>9.2f}  {1e3 * recorded:>11.2f}  {ratio:>22.3f}")


def headlight(network) -> Way:
    """All that a trace holds of a text, one layer's maps, and the logits of the last position."""
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(vocabularies.WordLevel({"?": 0}, unk_token="?")))
    model = HuggingFaceModel(gpt2.twin(network, "sdpa"), tokenizer, "decoder", name="random")

    def read(ids):
        row = ids[0].tolist()
        ((calls, hidden),) = model.read_parts([Part(tuple(row))])  # what `trace` does after the tokenizer, nothing remembered
        tokens = [Token(id, "", 0, 0) for id in row]
        attention = Attention(tokens, tokens, calls)
        maps, logits = attention[LAYER], model.unembed(hidden[-1][-1:])
        return maps, (calls, hidden, maps, logits)

    def arrays(outputs):
        calls, hidden, maps, _ = outputs
        return [*(tensor for call in calls for tensor in (*call.tensors(), call.mask, call.bias)), hidden, maps]

    return Way(OURS, read, arrays)


def eager(network) -> Way:
    """What transformers offers by itself."""
    other = gpt2.twin(network, "eager")

    def read(ids):
        out = other(**gpt2.inputs_for(ids), output_attentions=True)
        return out.attentions[LAYER][0], out

    return Way("transformers, eager, output_attentions", read, lambda out: out.attentions)


def table(results: list[dict], clock: str) -> None:
    by_way: dict[str, dict[int, dict]] = {}
    for result in results:
        by_way.setdefault(result["name"], {})[result["length"]] = result
    print(f"| {clock} time over plain, median (quartiles) | {' | '.join(f'{length:,} tokens' for length in LENGTHS)} ", end="")
    print(f"| plain ms | MB held at {LONGEST:,} | maps differ by |")
    print("|---" * (len(LENGTHS) + 4) + "|")
    for name, by_length in by_way.items():
        ratios = ["{1:.3f} ({0:.3f}–{2:.3f})".format(*by_length[length]["ratio"]) for length in LENGTHS]
        plain = ", ".join(f"{1e3 * by_length[length]['plain']:.0f}" for length in LENGTHS)
        held = by_length[LONGEST]["held"] / 1e6
        differs = [result["differs"] for result in by_length.values() if result["differs"] is not None]
        print(f"| {name} | {' | '.join(ratios)} | {plain} | {held:.1f} | {f'{max(differs):.0e}' if differs else ''} |")


def verdict(results: list[dict]) -> None:
    ratios = {result["length"]: result["ratio"][1] for result in results if result["name"] == OURS}
    figures = ", ".join(f"{ratio:.3f} at {length:,}" for length, ratio in ratios.items())
    met = all(ratio <= AIM for ratio in ratios.values())
    print(f"\nAim: at most {AIM} times plain, one layer's maps read. {'Met' if met else 'Missed'}: {figures}.")
    held = {result["name"]: result["held"] for result in results if result["length"] == LONGEST and result["every_layer"]}
    least = min((name for name in held if name != OURS), key=held.get)
    met = held[OURS] < held[least]
    print(
        f"Aim: the fewest bytes held at {LONGEST:,} tokens, where every layer can be shown without another forward pass. "
        f"{'Met' if met else 'Missed'}: {held[OURS] / 1e6:.0f} MB; the next is “{least}” with {held[least] / 1e6:.0f} MB."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", nargs="*", choices=[*environment.PEERS, "none"], default=list(environment.PEERS))
    parser.add_argument("--scale", type=float, default=1.0, help="more or fewer repeats: 2 for twice as many")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="cpu, with --threads 1, on a busy machine")
    arguments = parser.parse_args()
    settings = Settings(arguments.scale, arguments.threads, arguments.clock)
    torch.set_num_threads(settings.threads)
    writer()
    gpt2.prepare()
    network = gpt2.load()
    results = measure(headlight(network), network, settings, first=True)
    results += measure(eager(network), network, settings)
    missing = []
    for peer in arguments.peers:
        if peer != "none":
            try:
                results += environment.measured(peer, settings)
            except environment.PeerError as error:
                missing.append(f"{environment.PEERS[peer]} could not be measured: {error}")
    print(HEADING.format(threads=settings.threads, clock=settings.clock, load=os.getloadavg()[0]))
    table(results, settings.clock)
    print(*missing, sep="\n")
    verdict(results)


if __name__ == "__main__":
    main()
