"""How often a verdict is given where there is nothing, and where there is something: labels of heads, circuits, steering,
“better than chance”.

    python -m benchmarks.false_positives [--only labels circuits steering orders] [--seeds 100] [--threads 1]

The truth is known of every case. Where there is nothing: sets, directions and orders that are drawn at random, in a transformer
of random weights and in the writer. Where there is something: the transformer whose heads are set by hand, on random letters that
are said twice (`tests.analysis.planted`). A row gives the share of seeds with the verdict, its 95 % interval (Clopper and Pearson
1934), and the most that chance may give. Rows without that have no such bound: what `find_circuit` finds in random weights, for
one, is selected on the text on which it is tested; it is then read on another text, where it was not.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy.stats import beta

import models
from analysis import Behaviour, Question, direction, faithfulness, find_circuit, head_labels, push, random_direction
from analysis.circuits import Circuit, other_sets
from analysis.steering import DIRECTIONS, Moves, moves
from models.language_model import LanguageModel
from models.scratch.decoder_model import DecoderModel
from models.scratch.transformer import TransformerConfig, build
from tests.analysis.planted import CIRCUIT, HEADS, LETTERS, letters, planted
from tests.models.ours import scramble

ALPHABET = "abcdefghijklmnopqrstuvwxyz"
METHODS = 6  # that are tried on one text
TEXT = "The old man went down to the river and sat on the"


@dataclass(frozen=True)
class Rate:
    """In how many of some cases a verdict was given (count). most: what chance may give; None where there is no such bound."""

    verdict: str
    case: str
    count: int
    cases: int
    most: float | None = None

    def __str__(self) -> str:
        low = beta.ppf(0.025, self.count, self.cases - self.count + 1) if self.count else 0.0
        high = beta.ppf(0.975, self.count + 1, self.cases - self.count) if self.count < self.cases else 1.0
        bound = "" if self.most is None else f"{self.most:>7.1%}"
        share = self.count / self.cases if self.cases else float("nan")
        return f"{self.verdict:30}{self.case:62}{share:>7.1%}  {f'{low:.0%} to {high:.0%}':>13}{self.cases:>6}{bound}"


def random_weights(seed: int) -> LanguageModel:
    """A transformer of three layers of four heads, every matrix of it drawn at random, so that it has learned nothing."""
    draw = torch.Generator().manual_seed(seed)
    network = build(TransformerConfig(vocabulary=LETTERS, context=64, d_model=64, layers=3, heads=4, d_ff=128))
    with torch.no_grad():
        for weight in network.parameters():
            if weight.dim() > 1:
                weight.copy_(torch.randn(weight.shape, generator=draw) / weight.shape[-1] ** 0.5)
    return DecoderModel(network, letters(), f"random weights {seed}", "")


def some_letters(seed: int, count: int = 10) -> str:
    """Different letters in a random order."""
    return "".join(np.random.default_rng(seed).permutation(list(ALPHABET))[:count])


def labels(seeds: int) -> Iterator[Rate]:
    """Whether a head gets a label, of models of random weights that read the writer's tokens, and of the hand-built one."""
    tokenizer, labelled = models.load("writer").vocabulary.tokenizer, list[bool]()
    config = TransformerConfig(vocabulary=tokenizer.get_vocab_size(), d_model=64, layers=3, heads=4, d_ff=64)
    for seed in range(seeds):
        torch.manual_seed(seed)
        network = build(config)
        scramble(network)
        table = head_labels(DecoderModel(network, tokenizer, f"random weights {seed}", ""))
        labelled += (table["label"] != "").tolist()
    yield rate("a head has a label", "random weights, a case a head", labelled)
    own = (head_labels(planted())["label"] == [*HEADS, ""]).tolist()
    yield rate("a head has its label or none", "by hand: three heads that do something and one that does nothing", own)


def circuits(seeds: int) -> Iterator[Rate]:
    """Whether a set of parts is above every other set of its size."""
    chosen, chances, searched, elsewhere, planted_ones = [], [], [], [], []
    for seed in range(seeds):
        model = random_weights(seed)
        trace, other = (model.trace(some_letters(seed + 1000 * i)) for i in (1, 2))
        try:
            circuit = find_circuit(model, trace, fill="zero", seed=seed, leads=True)
            asked = Behaviour(model, other, len(other.tokens) - 1, int(other.logits_at(-1).argmax()), fill="zero")
            sure = asked.ends[0] - asked.ends[1] > 0.01
        except ValueError:  # where no part makes the token likelier there is no circuit
            continue
        searched.append(circuit.faithful)
        if len(circuit.random_shares) > 1:
            chosen.append(in_its_place(circuit, seed).faithful)
            chances.append(1 / len(circuit.random_shares))
        if sure:
            elsewhere.append(on(circuit, asked, seed).faithful)
    net = planted()
    for seed in range(seeds):
        circuit = find_circuit(net, net.trace(2 * some_letters(seed)), seed=seed, leads=True)
        planted_ones.append(circuit.faithful and [(node.layer, node.head) for node in circuit.members] == CIRCUIT)
    name = "circuit: more is left"
    yield rate(name, "a set drawn at random, in random weights", chosen, float(np.mean(chances)))
    yield rate(name, "found in random weights, on the text of its search", searched)
    yield rate(name, "the same set on another text", elsewhere)
    yield rate(name, "by hand: exactly the two heads that do it", planted_ones)


def in_its_place(circuit: Circuit, seed: int) -> Circuit:
    """One of the random sets in the circuit's place, beside the others: it was not selected by what is measured."""
    place = np.random.default_rng(seed).integers(len(circuit.random_shares))
    shares = circuit.random_shares
    return replace(circuit, share=float(shares[place]), random_shares=np.delete(shares, place))


def on(circuit: Circuit, asked: Behaviour, seed: int) -> Circuit:
    """The same set of parts, and other sets of its size, on another text."""
    sets, _ = other_sets(circuit.nodes, circuit.members, seed)
    share, *others = asked.shares([circuit.members, *sets])
    whole, nothing = asked.ends
    return replace(circuit, share=float(share), random_shares=np.array(others), whole=whole, nothing=nothing)


def steering(seeds: int) -> Iterator[Rate]:
    """Whether a push does more than random ones by both measures."""
    drawn, random_pairs, nothing, by_hand = [], [], [], []
    writer = models.load("writer")
    sentence, net = writer.trace(TEXT), planted()
    sea = direction(writer, [("The sea", "The field")], 3)
    for seed in range(seeds):
        drawn.append(pushed(writer, sentence, random_direction(sea, 10_000 + seed), 3, seed).verdict)
        model = random_weights(seed)
        pairs = [(some_letters(4 * seed + i), some_letters(4 * seed + i + 2)) for i in (0, 1)]
        random_pairs.append(pushed(model, model.trace(some_letters(seed + 5000)), direction(model, pairs, 1), 1, seed).verdict)
        more, less = some_letters(seed, 2)
        result = pushed(net, net.trace(some_letters(seed + 7000)), direction(net, [(4 * more, 4 * less)], 2), 2, seed)
        by_hand.append(result.verdict == "more" and net.token_text(result.push.token) == more)
        nothing.append(result.verdict == "no more")
    for verdict in ("more", "unclear", "no more"):
        most = 1 / 21 if verdict == "more" else None
        yield rate(f"steering: {verdict}", "a direction drawn at random, the writer", [each == verdict for each in drawn], most)
    for verdict in ("more", "unclear", "no more"):
        matches = [each == verdict for each in random_pairs]
        yield rate(f"steering: {verdict}", "pairs of random letters, random weights", matches)
    yield rate("steering: more", "by hand: the letter that the pair stands for", by_hand)


def pushed(model: LanguageModel, trace: models.Trace, added: np.ndarray, layer: int, seed: int) -> Moves:
    """A push beside random ones that no other seed has."""
    others = [random_direction(added, DIRECTIONS * seed + i) for i in range(DIRECTIONS)]
    return moves(push(model, trace, np.stack([0 * added, added, *others]), layer))


def orders(seeds: int) -> Iterator[Rate]:
    """Whether any of some methods on a text is better or worse than chance."""
    writer = models.load("writer")
    for case, make in (("random weights", lambda seed: random_weights(seed)), ("the writer", lambda seed: writer)):
        better, worse = [], []
        for seed in range(seeds):
            question = asked_at_the_end(make(seed), TEXT if case == "the writer" else some_letters(seed))
            draw, size = np.random.default_rng(seed), len(question.trace.tokens)
            result = faithfulness(question, {str(i): draw.random(size) for i in range(METHODS)}, seed=seed)
            # Leave-one-out knows something of the text.
            methods = {name: curves for name, curves in result.methods.items() if name != "leave-one-out"}
            result = replace(result, methods=methods)
            verdicts = {result.verdict(name) for name in methods}
            better.append("better" in verdicts)
            worse.append("worse" in verdicts)
        any_of = [is_better or is_worse for is_better, is_worse in zip(better, worse, strict=True)]
        yield rate("better or worse than chance", f"any of {METHODS} random orders, {case}", any_of, 0.05)
    yield from known_orders(seeds)


def known_orders(seeds: int) -> Iterator[Rate]:
    """Of the hand-built model: the letter that is read, where it stood before, and what came after, go first, or last."""
    net, first, last = planted(), [], []
    for seed in range(seeds):
        text = some_letters(seed)
        question = asked_at_the_end(net, 2 * text)
        scores = np.zeros(len(question.trace.tokens))
        scores[[-1, -1 - len(text), -len(text)]] = 1
        result = faithfulness(question, {"known": scores, "turned": -scores}, seed=seed)
        first.append(result.verdict("known") == "better")
        last.append(result.verdict("turned") == "worse")
    yield rate("better than chance", "by hand: the tokens that the prediction rests on go first", first)
    yield rate("worse than chance", "by hand: they go last", last)


def asked_at_the_end(model: LanguageModel, text: str) -> Question:
    trace = model.trace(text)
    return Question(model, trace, len(trace.tokens) - 1, int(trace.logits_at(-1).argmax()))


def rate(verdict: str, case: str, outcomes: list[bool], most: float | None = None) -> Rate:
    return Rate(verdict, case, sum(outcomes), len(outcomes), most)


PARTS: dict[str, Callable[[int], Iterator[Rate]]] = {
    "labels": labels,
    "circuits": circuits,
    "steering": steering,
    "orders": orders,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=tuple(PARTS))
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print(f"{'verdict':30}{'case':62}{'given':>7}  {'95 %':>13}{'cases':>6}{'chance':>7}")
    for name in arguments.only:
        for row in PARTS[name](arguments.seeds):
            print(row, flush=True)


if __name__ == "__main__":
    main()
