"""What a run of a page has read and calculated for its boards, made again, for a visitor who has chosen nothing but a part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from analysis import head_statistics, inside, logit_attribution, maps, pair
from analysis.embedding import chance_of_analogy, chance_of_nearest, vectors
from analysis.lens import lens, translator
from analysis.patches import Patches
from analysis.steering import direction
from models import load_tokenizer
from models.reading.bounded import Bounded
from models.trace import Trace
from pages.change import figures
from pages.change.asked import Question
from pages.change.boards.steering import TOKENS
from pages.change.changed_text import ChangedText
from pages.change.circuit.recipes import find
from pages.change.circuit.settings import Settings as CircuitSettings
from pages.change.settings import Compared, Steered, Switched, Wired, Written
from pages.change.settings import Reading as ChangeReading
from pages.change.settings import Settings as ChangeSettings
from pages.change.steer import recipes as steer
from pages.change.steer.push import Push
from pages.change.steer.ready import ready_for
from pages.change.texts.choose import most_different, places
from pages.change.texts.comparison import Comparison
from pages.flow.boards.question import candidates, has_chips
from pages.flow.recipes import FLOW, streams_of
from pages.flow.request import Request, position_of, request_of
from pages.flow.settings import Followed, Layers, Methods, Streams, Tokens
from pages.flow.settings import Reading as FlowReading
from pages.flow.settings import Settings as FlowSettings
from pages.inside import kept, recipes
from pages.inside.boards.neurons import TOP as NEURONS
from pages.inside.boards.neurons import key_of
from pages.inside.neurons import recipes as neurons
from pages.inside.opened import open_stage
from pages.inside.order import kept as kept_orders
from pages.inside.pieces.comparison import WHICH
from pages.inside.settings import Chips, Cuts, Explained, Firings, Glimpse, Neurons, Opened, Orders, Stages, Tokenizer
from pages.inside.settings import Reading as InsideReading
from pages.inside.settings import Settings as InsideSettings
from pages.inside.spots import Selection
from pages.layers.boards.evolution import chosen_key
from pages.layers.recipes import TOP, over
from pages.layers.settings import Evolution, Predictions, Reading, Statistics
from pages.layers.settings import Settings as LayersSettings
from pages.space import recipes as space
from pages.space import scene
from pages.space.analogies import READY
from pages.space.contexts import TEXTS, WORD, typed_meanings
from pages.space.settings import OWN, Analogy, AnalogyByChance, Arrangement, Choice, Map, Nearest, NearestByChance, Word
from pages.space.settings import Reading as SpaceReading
from pages.space.settings import Settings as SpaceSettings
from pages.space.settings import Tokens as Points
from pages.space.vocabulary import WORDS
from ui.look import Look

Sized = TypeVar("Sized")

# ---------------------------------------------------------------- page "Layers"


def evolution(seen: Look) -> tuple[LayersSettings, Reading]:
    """What "Evolution" shows while no key is chosen, with the likeliest pair and the film of all heads together."""
    mean = maps(seen.attention)
    key = chosen_key(seen, LayersSettings(), over(mean))
    return LayersSettings(), Evolution(mean, pair(seen.attention, seen.token, key), mean)


def statistics(seen: Look) -> tuple[LayersSettings, Reading]:
    return LayersSettings(), Statistics(head_statistics(seen.attention))


def predictions(seen: Look, tuned: bool = False) -> tuple[LayersSettings, Reading]:
    places = seen.model.places(seen.trace) if seen.model.info.kind == "encoder" else range(len(seen.trace.read))
    translate = translator(seen.model) if tuned else None
    through = lens(seen.trace, list(places), TOP, translate)
    return LayersSettings(), Predictions(tuple(places), through, translate is not None)


# ---------------------------------------------------------------- page "Change"


TWO = {"encoder-decoder": ("h0.1@cross", "h1.0@cross")}  # changes of two heads, as a link names them


def predicted(seen: Look) -> int:
    position = figures.predicted_position(seen)
    assert position is not None
    return position


def whole(seen: Look) -> Look:
    """Every token of a text, as page "Change" shows it."""
    return replace(seen, options={})


def switched(seen: Look, traces: list[Trace]) -> tuple[ChangeSettings, ChangeReading]:
    changes = TWO.get(seen.model.info.kind, ("h0.1", "h1.0"))
    return ChangeSettings(changes), Switched(ChangedText(list(changes), {}, traces[-1]))


def compared(seen: Look, traces: list[Trace]) -> tuple[ChangeSettings, ChangeReading]:
    other = replace(whole(seen), trace=traces[-1])
    position = most_different(whole(seen), other, places(seen))
    kind = "encoder" if seen.trace.target else "self"
    answers = Patches(seen.model, seen.trace, other.trace, kind=kind, position=position).answers()
    comparison = Comparison(whole(seen), other, "stream", "logit difference", "denoising", kind, position, answers, None)
    effects = comparison.patches.effects("stream", "logit difference", *answers)
    return ChangeSettings(), Compared(comparison, effects)


def wrote(seen: Look, traces: list[Trace]) -> tuple[ChangeSettings, ChangeReading]:
    position = predicted(seen)
    best = seen.model.top(seen.trace.logits_at(position), position, 1)
    question = Question(whole(seen), seen.trace, position, best[0].id, None)
    table = logit_attribution(seen.model, seen.trace, question.token, position, question.against)
    return ChangeSettings(), Written(question, ChangedText([], {}, seen.trace), table)


def steered(seen: Look, traces: list[Trace]) -> tuple[ChangeSettings, ChangeReading]:
    name, first = next(iter(ready_for(seen.model.info.kind).items()))
    last = len(seen.trace.hidden["encoder" if seen.trace.target else "self"]) - 1
    push = Push(name, first.pairs, (last + 1) // 2 if first.layer is None else first.layer, first.strength, "greedy", 0)
    added = steer.with_random(push.strength * direction(seen.model, push.pairs, push.layer))
    strategy = steer.strategy_of(push.method, push.seed)
    pieces = steer.write(seen.model, seen.trace, added[:3], push.layer, seen.second, strategy, TOKENS[seen.level])
    return ChangeSettings(), Steered(push, added, pieces)


def wired(seen: Look, traces: list[Trace]) -> tuple[ChangeSettings, ChangeReading]:
    position = predicted(seen)
    best = seen.model.top(seen.trace.logits_at(position), position, 1)
    settings = CircuitSettings(Question(whole(seen), seen.trace, position, best[0].id), 0.5, "zero", "")
    return ChangeSettings(), Wired(settings, find(seen.model, seen.trace, **settings.options))


EXPERIMENTS: dict[str, tuple[str, Callable[[Look, list[Trace]], tuple[ChangeSettings, ChangeReading]]]] = {
    "Switch off": ("changes={changes}", switched),
    "Two texts": ("other-text={other}", compared),
    "What wrote it": ("", wrote),
    "Steer": ("", steered),
    "Circuit": ("circuit-fill=zeros&circuit-keep=50", wired),
}


# ---------------------------------------------------------------- page "Inside"

STAGES = ("text", "pieces", "ids", "queries", "weights", "feed-forward", "choice", "order")


def opened(seen: Look, stage: str, order: tuple[int, ...]) -> list[tuple[InsideSettings, InsideReading]]:
    """All boards of the page with a stage open, for whom nothing else is chosen. order: of the words."""
    way = newest(kept.ways)
    assert way.trace is seen.trace
    settings = InsideSettings(Selection(stage))
    more: list[InsideReading] = [Explained(stage)]
    if stage == "pieces":
        name = WHICH.get(seen.model.info.name, "translator")
        more += [Cuts(seen.model.pieces(seen.trace.text), not seen.beginner)]
        more += [] if seen.beginner else [Tokenizer(name, load_tokenizer(name))]
    elif stage == "order":
        read = newest(kept_orders.store)
        assert read.what[2:] == (seen.trace.text, seen.second, order)
        more += [Chips(order, read.orders.get(True)), Orders(order, read.orders, read.note)]
    elif stage != "text":
        more = stage_readings(seen, way, stage)
    return [(settings, reading) for reading in (Stages(way), *more)]


def newest(store: Bounded[str, Sized]) -> Sized:
    """What was kept last, which is for the visitor of the page that a test has opened."""
    (thing,) = store.of(store.owners[-1]).values()
    return thing


def stage_readings(seen: Look, way: inside.Way, stage: str) -> list[InsideReading]:
    """What is shown of a stage with numbers, if the model has it."""
    if all(each.name != stage for each in way.stages):
        return []
    here = open_stage(seen, way, recipes.stage_of(way, stage), Selection(stage))
    if seen.beginner:
        return [Glimpse(here)]
    if stage != "feed-forward":
        return [Opened(here)]
    listed = neurons.strongest(way, here.place[0], NEURONS[seen.level], None)
    neuron = neurons.one_of(way, here.place[0], *key_of(listed.neurons[0]))
    assert way.fired is not None
    sampled = inside.sampled(seen.model, way.stack, way.layer, way.fired)
    return [Opened(here), Neurons(here, listed, neuron), Firings(here, neuron, sampled)]


# ---------------------------------------------------------------- page "Flow"

CHOSEN = {"beginner": 0, "intermediate": 1, "expert": 3}  # how many of the choices of `analysis.Attribution` a level has


DEFAULTS = (("fusion", "mean"), ("discard", 0.0), ("residual", 0.5))


def followed(seen: Look, view: str, choices: tuple = DEFAULTS) -> list[tuple[FlowSettings, FlowReading]]:
    """All boards of the page with a view open, which have anything to show."""
    offered = candidates(seen, position_of(seen))
    settings = FlowSettings(offered[0].id if offered else None, choices[: CHOSEN[seen.level]])
    with threadpool_limits(1):  # as in a job
        reading = FLOWS[view](request_of(seen, settings), settings)
    chips = [Tokens()] if has_chips(seen) else []
    sentences = [Followed(offered)] if not offered else []
    return [(settings, each) for each in (*chips, *sentences, reading)]


def side_by_side(request: Request, settings: FlowSettings) -> FlowReading:
    attribution = request.attribution
    scores: dict[str, np.ndarray | str] = {}
    for method in request.methods:
        try:
            scores[method] = attribution.flow() if method == FLOW else attribution.scores(method)
        except ValueError as sentence:
            scores[method] = str(sentence)
    if request.token is not None:
        scores["slopes"] = np.array(sum(matrix.sum() for matrix in attribution.relevance))
    return Methods(scores)


def layer_by_layer(request: Request, settings: FlowSettings) -> FlowReading:
    attribution, methods = request.attribution, request.methods_by_layer
    layers = range(attribution.ways.layers)
    return Layers(methods, np.array([[attribution.scores(method, layer) for method in methods] for layer in layers]))


def streams(request: Request, settings: FlowSettings) -> FlowReading:
    return Streams(*streams_of(request.attribution, settings.streams_of, settings.least))


FLOWS: dict[str, Callable[[Request, FlowSettings], FlowReading]] = {
    "Sources": side_by_side,
    "Layer by layer": layer_by_layer,
    "Streams": streams,
}


# ---------------------------------------------------------------- page "Space"


def spread(seen: Look, part: str, traces: list[Trace]) -> list[tuple[SpaceSettings, SpaceReading]]:
    """All boards of a part, for whom nothing else is chosen. traces: what the page has read."""
    with threadpool_limits(1):  # as in a job
        return [(SpaceSettings(), reading) for reading in SPACES[part](seen, traces)]


def arranged(hidden: np.ndarray, chosen: Choice | None = None) -> Arrangement:
    return scene.arrange(hidden, chosen or Choice(), lambda share, words: None)


def points(seen: Look, traces: list[Trace]) -> list[SpaceReading]:
    stack, hidden = next(iter(seen.trace.hidden.items()))
    places = seen.select(seen.trace.tokens).places
    return [Points(stack, places, arranged(hidden[:, places]))]


def word_readings(seen: Look, traces: list[Trace]) -> list[SpaceReading]:
    meanings, stack = {seen.trace.text: OWN} | typed_meanings(TEXTS), next(iter(seen.trace.hidden))
    texts = tuple(traces[-len(meanings) :])
    assert [trace.text for trace in texts] == [*meanings]
    states = space.word_points(texts, stack, WORD, [])[2]
    return [Word(WORD, texts, stack, [], arranged(states), tuple(meanings.values()))]


def vocabulary(seen: Look, traces: list[Trace]) -> list[SpaceReading]:
    model, words, terms = seen.model, WORDS.split(), list(READY[0][:3])
    near = space.neighbours(model, word="dog", centred=False, words_only=True)["cosine"].to_numpy()
    answers = space.answers(model, words=terms, centred=False, words_only=True)["cosine"].to_numpy()
    return [
        Map(words, arranged(vectors(model, words)[None])),
        Nearest("dog"),
        NearestByChance("dog", near, chance_of_nearest(model, "dog", words_only=True)),
        Analogy(terms),
        AnalogyByChance(answers, chance_of_analogy(model, words_only=True)),
    ]


SPACES: dict[str, Callable[[Look, list[Trace]], list[SpaceReading]]] = {
    "Tokens": points,
    "One word": word_readings,
    "Vocabulary": vocabulary,
}
