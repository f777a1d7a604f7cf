"""What looking through all layers costs, beside how others do it: rollout, attention × gradient, and attention flow.

    python -m benchmarks.layers [--only rollout gradient flow …] [--repeats 5] [--threads 1]

Every row is one size of one comparison, ours and each peer in turn, in this process and on the same numbers; how far their
results lie apart stands beside the times. The peers are written as their papers' code does it: Chefer et al. 2021 multiply dense
tensors of all heads that an eager forward pass has given out, Abnar and Zuidema 2020 loop over numpy and networkx. On a busy
machine CLOCK=cpu measures processor time, which is steadier.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import networkx as nx
import numpy as np
import torch
import transformers

from analysis import flow, paths, rollout, shares
from analysis.gradients import relevance
from analysis.routes import matrices
from models import Attention, Token
from models.attention.side_by_side import Part
from models.huggingface.model import HuggingFaceModel

LAYERS = HEADS = 12
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
CLOCK = os.environ.get("CLOCK", "wall")  # cpu: the steadier one on a busy machine, with one thread
AIM = 20  # times faster than networkx, in flow


@dataclass(frozen=True)
class Row:
    """One comparison at one size. times: seconds by who; differs: from ours, at most, by who; note: what else is to be known."""

    subject: str
    size: str
    times: dict[str, float]
    differs: dict[str, float]
    note: str = ""

    def __str__(self) -> str:
        each = [
            f"{who} {1e3 * taken:,.1f}"
            + (f" ({taken / self.times['ours']:.2f}x, {self.differs[who]:.0e})" if who in self.differs else "")
            for who, taken in self.times.items()
        ]
        return f"{self.subject:<21} {self.size:<10} {'; '.join(each)}. {self.note}".rstrip(". ")


def random_attention(count: int, seed: int = 0) -> Attention:
    """Causal weights of 12 layers of 12 heads, as sharp as trained ones."""
    scores = 3 * np.random.default_rng(seed).standard_normal((LAYERS, HEADS, count, count), dtype=np.float32)
    scores[..., ~np.tri(count, dtype=bool)] = -np.inf
    raised = np.exp(scores - scores.max(-1, keepdims=True))
    tokens = [Token(i, str(i), i, i + 1) for i in range(count)]
    return Attention.from_arrays(raised / raised.sum(-1, keepdims=True), tokens, tokens)


def rollouts(repeats: int) -> Iterator[Row]:
    """12 layers × 12 heads: ours whole and towards one position, against dense eager tensors and a numpy loop."""
    for count in (64, 256, 1024):
        attention = random_attention(count)
        eager = torch.stack([torch.from_numpy(np.array(attention[layer])) for layer in range(LAYERS)])[:, None]

        def chefer(eager=eager) -> np.ndarray:
            eye = torch.eye(eager.shape[-1])
            fused = eager.mean(2)  # [layers, batch, query, key]
            fused = fused + eye
            fused = fused / fused.sum(-1, keepdim=True)
            product = fused[0]
            for layer in fused[1:]:
                product = layer.bmm(product)
            return product[0].numpy()

        def loop(attention=attention, count=count) -> np.ndarray:
            product = np.eye(count)
            for layer in range(LAYERS):
                fused = sum(attention[layer][head].astype(np.float64) for head in range(HEADS)) / HEADS
                fused = 0.5 * fused + 0.5 * np.eye(count)
                for row in range(count):
                    fused[row] /= fused[row].sum()
                product = fused @ product
            return product

        def last_row(attention=attention) -> np.ndarray:
            ways = paths(attention)
            return shares(ways, matrices(ways), -1)[0]

        ways = {
            "ours": lambda a=attention: rollout(a)[-1],
            "ours, one position": last_row,
            "dense tensors": chefer,
            "numpy loop": loop,
        }
        times, results = measured(ways, repeats)
        row = results.pop("ours, one position")
        differs = {"ours, one position": float(np.abs(row - results["ours"][-1]).max()), **apart(results)}
        yield Row("rollout", f"n = {count:,}", times, differs, "ours keeps every layer, in float64")


def gradients(repeats: int) -> Iterator[Row]:
    """From ids to max(0, P · dL/dP) of every layer, heads as their mean, GPT-2 small's size, random."""
    for count in (16, 64, 256):
        theirs = network("eager")
        model = ours(network("sdpa"))
        text = tokens(count)
        trace = as_trace(model, text)
        token = 5

        def headlight(model=model, trace=trace, token=token) -> np.ndarray:
            attention, slopes = trace.attention["self"], model.gradients(trace, -1, token)["self"]
            return np.stack([relevance(attention[layer], slopes[layer]) for layer in range(LAYERS)])

        def autograd(theirs=theirs, text=text, token=token) -> np.ndarray:
            out = theirs(torch.tensor([text]), output_attentions=True, use_cache=False)
            slopes = torch.autograd.grad(out.logits[0, -1, token], out.attentions)
            each = [(w * s)[0].clamp(min=0).mean(0).detach() for w, s in zip(out.attentions, slopes, strict=True)]
            return torch.stack(each).numpy()

        with torch.enable_grad():
            times, results = measured({"ours": headlight, "autograd, eager": autograd}, repeats)
        scale = float(np.abs(results["ours"]).max())
        yield Row("attention × gradient", f"n = {count:,}", times, apart(results), f"the largest is {scale:.1e}")


def flows(repeats: int) -> Iterator[Row]:
    """Flow from every token to the last, 12 layers, n = 32, 64."""
    for count in (32, 64):
        attention = random_attention(count)
        ways = paths(attention)
        layers = matrices(ways)

        def networkx(layers=layers, count=count) -> np.ndarray:
            graph = nx.DiGraph()
            for number, matrix in enumerate(layers):
                joined = 0.5 * matrix + 0.5 * np.eye(count)
                for q, k in zip(*np.nonzero(joined), strict=True):
                    graph.add_edge((number, int(k)), (number + 1, int(q)), capacity=float(joined[q, k]))
            sink = (len(layers), count - 1)
            flows = np.array([nx.maximum_flow_value(graph, (0, k), sink) for k in range(count)])
            return flows / flows.sum()

        times, results = measured({"ours": lambda a=attention: flow(a), "networkx": networkx}, 1 if count > 32 else repeats)
        times["ours"] = min(timed(lambda a=attention: flow(a))[0] for _ in range(5))  # far below a run of the other
        ratio = times["networkx"] / times["ours"]
        verdict = f"{ratio:.0f}x; aim {AIM}x: {'met' if ratio >= AIM else 'missed'}"
        yield Row("attention flow", f"n = {count}", times, apart(results), verdict)


def measured(ways: dict[str, Callable[[], np.ndarray]], repeats: int) -> tuple[dict[str, float], dict[str, np.ndarray]]:
    """Median seconds of each way, which take turns, and what they gave."""
    results = {name: way() for name, way in ways.items()}  # the first time warms up
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, way in ways.items():
            taken[name].append(timed(way)[0])
    return {name: statistics.median(each) for name, each in taken.items()}, results


def timed(way: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    clock = CLOCKS[CLOCK]
    began = clock()
    result = way()
    return clock() - began, result


def apart(results: dict[str, np.ndarray]) -> dict[str, float]:
    return {name: float(np.abs(each - results["ours"]).max()) for name, each in results.items() if name != "ours"}


def network(attention: str) -> transformers.GPT2LMHeadModel:
    torch.manual_seed(0)
    return transformers.GPT2LMHeadModel._from_config(transformers.GPT2Config(), attn_implementation=attention).eval()


def ours(network: transformers.GPT2LMHeadModel) -> HuggingFaceModel:
    from tokenizers import Tokenizer
    from tokenizers import models as vocabularies

    spelt = transformers.PreTrainedTokenizerFast(tokenizer_object=Tokenizer(vocabularies.WordLevel({"?": 0}, unk_token="?")))
    return HuggingFaceModel(network, spelt, "decoder", name="random")


def tokens(count: int) -> list[int]:
    return np.random.default_rng(0).integers(0, 50_000, count).tolist()


def as_trace(model: HuggingFaceModel, ids: list[int]):
    """A trace of token ids, past the tokenizer."""
    from models.trace import Trace

    read = [Token(id, "", i, i + 1) for i, id in enumerate(ids)]
    ((calls, hidden),) = model.read_parts([Part(tuple(ids))])
    return Trace("", read, {"self": Attention(read, read, calls)}, {"self": hidden}, unembed=model.unembed)


def projections(repeats: int) -> Iterator[str]:
    """Joint PCA and t-SNE of 13 × 64 × 768, as their own script measures them."""
    from benchmarks.projection import rows, table

    yield table(rows(repeats=repeats))


COMPARISONS: dict[str, Callable[[int], Iterator[Row | str]]] = {
    "rollout": rollouts,
    "gradient": gradients,
    "flow": flows,
    "projection": projections,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(COMPARISONS), default=list(COMPARISONS))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print(f"{arguments.threads} thread(s), {CLOCK} clock, load {os.getloadavg()[0]:.1f}.")
    print("Milliseconds, the median; in brackets the time and how far the result is, beside ours.\n")
    for name in arguments.only:
        for row in COMPARISONS[name](arguments.repeats):
            print(row, flush=True)


if __name__ == "__main__":
    main()
