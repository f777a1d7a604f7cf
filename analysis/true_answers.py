"""Answers to a lesson's questions by the model in use: each has a name that a lesson's file can use."""

from __future__ import annotations

import numpy as np

from analysis.answer_checks import (
    ANSWERS,
    OFFERED,
    Answer,
    answer,
    check_given,
    choice_among,
    edits_of,
    id_of,
    kind_of,
    label_at,
    logits_of,
    per_cent,
    place_of,
    predicts_at,
    register,
    target_text,
    token_label,
    weights_of,
    yes_or_no,
)
from models.generation.strategy import Strategy
from models.huggingface.names import quoted
from models.language_model import LanguageModel
from models.numbers.softmax import softmax
from models.trace import Trace

__all__ = ["ANSWERS", "Answer", "answer", "check_given"]

SAID = 40  # tokens that a model generates to see whether it repeats itself


# ---------------------------------------------------------------- tokens and predictions


@register("number of tokens")
def count_tokens(model: LanguageModel, trace: Trace) -> Answer:
    """Count the tokens of the typed text, without those that the tokenizer adds."""
    return Answer(sum(token.start < token.end for token in trace.tokens))


@register("tokens of a word")
def split_word(model: LanguageModel, trace: Trace, word: str) -> Answer:
    """Count the tokens that a word is cut into."""
    return Answer(sum(token.start < token.end for token in model.tokenize(word)))


@register("same token")
def same_token(model: LanguageModel, trace: Trace, first: str, second: str) -> Answer:
    """Tell whether two texts are one and the same entry of the vocabulary."""
    texts_ids = ([token.id for token in model.tokenize(text) if token.start < token.end] for text in (first, second))
    return yes_or_no(next(texts_ids) == next(texts_ids))


@register("size of the vocabulary")
def vocabulary_size(model: LanguageModel, trace: Trace) -> Answer:
    """Return how many tokens the model knows."""
    return Answer(model.info.vocabulary)


@register("likeliest token")
def likeliest(model: LanguageModel, trace: Trace, without: str = "") -> Answer:
    """Return the model's prediction, at the end or at the first mask. without: changes, as the address of page "Change" writes
    them."""
    logits = logits_of(model, trace, edits_of(without, model))
    ranked = [int(id) for id in np.argsort(-logits)[: 3 * OFFERED]]
    before = int(logits_of(model, trace).argmax())
    return choice_among([token_label(model, id) for id in dict.fromkeys([ranked[0], before, *ranked])])


@register("likeliest token is")
def likeliest_is(model: LanguageModel, trace: Trace, token: str, after: str = "") -> Answer:
    """Tell whether a token is the likeliest; after: another text than the one on screen."""
    best = int(logits_of(model, model.trace(after) if after else trace).argmax())
    return yes_or_no(token_label(model, best) == token.strip())


@register("says the same again")
def says_the_same(model: LanguageModel, trace: Trace, tokens: int = 5) -> Answer:
    """Tell whether the model, always with its likeliest token, generates the same tokens when it is run twice."""
    first, second = ([step.token.id for step in model.generate(trace.text, max_new_tokens=tokens)] for _ in range(2))
    return yes_or_no(first == second)


@register("probability")
def probability(model: LanguageModel, trace: Trace, token: str = "", temperature: float = 1.0, without: str = "") -> Answer:
    """Return the share of the likeliest token, or of a named one, in per cent. A guess is right within a tenth of it, or of its
    distance from 100, and at most 3. without: changes, after which the probability of the originally likeliest token is meant."""
    before = logits_of(model, trace)
    after = softmax(logits_of(model, trace, edits_of(without, model)), temperature)
    return per_cent(float(after[id_of(model, token, int(before.argmax()))]))


@register("still predicts it")
def still_predicts(model: LanguageModel, trace: Trace, without: str) -> Answer:
    """Tell whether the likeliest token stays the same with changes, as the address of page "Change" writes them."""
    return yes_or_no(int(logits_of(model, trace).argmax()) == int(logits_of(model, trace, edits_of(without, model)).argmax()))


@register("is surer here")
def is_surer(model: LanguageModel, trace: Trace, than: str) -> Answer:
    """Tell whether the model gives its likeliest token a greater share here than in another text."""
    share, other_share = (softmax(logits_of(model, some_trace)).max() for some_trace in (trace, model.trace(than)))
    return yes_or_no(bool(share > other_share))


@register("token drawn")
def draw_token(model: LanguageModel, trace: Trace, temperature: float = 1.0, seed: int = 0) -> Answer:
    """Return the next token, drawn at random. seed: the number of the draw, as on page "Generate"."""
    step = next(iter(model.generate(trace.text, Strategy("sampling", temperature=temperature, seed=seed), 1)))
    ranked = [int(id) for id in np.argsort(-step.logits)[: 3 * OFFERED]]
    return choice_among(list(dict.fromkeys(token_label(model, id) for id in (step.token.id, *ranked))))


@register("repeats itself")
def repeats_itself(model: LanguageModel, trace: Trace, penalty: float = 1.0) -> Answer:
    """Tell whether the model, always with its likeliest token, ends in a loop within 40 tokens. penalty: on earlier tokens."""
    from models.reading.repeats import loop

    steps = model.generate(trace.text, Strategy(repetition_penalty=penalty), SAID)
    return yes_or_no(loop([step.token.id for step in steps], least=12) is not None)


@register("order matters")
def order_matters(model: LanguageModel, trace: Trace, other: str, positions: bool = True) -> Answer:
    """Tell whether the prediction changes when the words are reordered. positions: whether the model has positions."""
    reader = model if positions else model.without_positions()
    first, second = (int(logits_of(reader, reader.trace(text)).argmax()) for text in (trace.text, other))
    return yes_or_no(first != second)


@register("first layer that predicts it")
def settles(model: LanguageModel, trace: Trace) -> Answer:
    """Count the blocks after which the final answer is and stays the likeliest token, by the logit lens."""
    from analysis.lens import lens

    return Answer(int(lens(trace, [predicts_at(model, trace)]).settled[0]))


@register("likeliest token after a layer")
def likeliest_after(model: LanguageModel, trace: Trace, layer: int) -> Answer:
    """Return the prediction of the model if it stopped after that layer, by the logit lens."""
    from analysis.lens import lens

    ids = lens(trace, [predicts_at(model, trace)]).ids
    if not 0 <= layer < len(ids) - 1:
        raise ValueError(f"There is no L{layer} in this model. It has {len(ids) - 1} layers.")
    return choice_among(list(dict.fromkeys(token_label(model, int(id)) for id in (*ids[layer + 1, 0], *ids[-1, 0]))))


@register("numbers of a token")
def width(model: LanguageModel, trace: Trace) -> Answer:
    """Return how many numbers the model keeps for each token, from the first layer to the last."""
    return Answer(model.info.d_model)


# ---------------------------------------------------------------- attention


@register("most attended token")
def most_attended(model: LanguageModel, trace: Trace, layer: int, head: int, from_: str = "", kind: str = "") -> Answer:
    """Return the token that a head looks at most from the last occurrence of a token (or from the last token)."""
    attention = trace.attention[kind_of(trace, kind)]
    query = place_of(attention.queries, from_)
    order = np.argsort(-weights_of(trace, layer, head, kind)[query])
    names = [label_at(attention.keys, int(key)) for key in order]
    return choice_among(list(dict.fromkeys(names)))


@register("weight")
def weight(model: LanguageModel, trace: Trace, layer: int, head: int, from_: str, to: str, kind: str = "") -> Answer:
    """Return the share that a head gives from one token to another, each the last with its text, in per cent. A guess is right
    within a tenth of it, or of its distance from 100, and at most 3."""
    attention = trace.attention[kind_of(trace, kind)]
    places = place_of(attention.queries, from_), place_of(attention.keys, to)
    return per_cent(float(weights_of(trace, layer, head, kind)[places]))


@register("greatest score")
def greatest_score(model: LanguageModel, trace: Trace, layer: int, head: int, from_: str, to: str, kind: str = "") -> Answer:
    """Tell whether a query matches a key better than any other that it may look at."""
    attention = trace.attention[kind_of(trace, kind)]
    query, key = place_of(attention.queries, from_), place_of(attention.keys, to)
    is_visible = weights_of(trace, layer, head, kind)[query] > 0
    scores = attention.scores(layer)[head][query]
    return yes_or_no(int(np.where(is_visible, scores, -np.inf).argmax()) == key)


@register("number of heads")
def count_heads(model: LanguageModel, trace: Trace) -> Answer:
    """Count the heads of all layers."""
    return Answer(sum(sum(attention.counts) for attention in trace.attention.values()))


@register("looks ahead")
def looks_ahead(model: LanguageModel, trace: Trace) -> Answer:
    """Tell whether any head gives any weight to a later token."""
    attention = trace.attention[kind_of(trace, "")]
    return yes_or_no(any(bool(np.triu(attention[layer], 1).any()) for layer in range(attention.layers)))


@register("head that looks most")
def looks_most(model: LanguageModel, trace: Trace, at: str, kind: str = "") -> Answer:
    """Return the head that looks most at one of the well-known places of `head_scores`: previous, current, next, first,
    separator, duplicate, induction."""
    from analysis.heads import head_scores

    table = head_scores(model, kind=kind or None)
    if at not in table.columns[2:]:
        raise ValueError(f"A head does not look {quoted(at)}. It looks {', '.join(table.columns[2:])}.")
    best = table.sort_values(at, ascending=False)
    return choice_among([f"L{layer} H{head}" for layer, head in zip(best["layer"], best["head"], strict=True)])


@register("has an induction head")
def has_induction(model: LanguageModel, trace: Trace, least: float = 0.5) -> Answer:
    """Tell whether a head gives most of its attention to the tokens after earlier copies, over repeated random words."""
    from analysis.heads import head_scores

    kind = "decoder" if model.info.kind == "encoder-decoder" else None
    return yes_or_no(bool(head_scores(model, kind=kind)["induction"].max() >= least))


@register("head that matters most")
def head_that_matters(model: LanguageModel, trace: Trace) -> Answer:
    """Return the head without which the likeliest token loses most of its probability, each switched off alone."""
    from analysis.effects import head_effects

    effects = head_effects(model, trace.text, predicts_at(model, trace), target=target_text(trace))
    places = zip(*np.unravel_index(np.argsort(effects, axis=None), effects.shape), strict=True)
    return choice_among([f"L{layer} H{head}" for layer, head in places])


@register("token that brings it back")
def brings_back(model: LanguageModel, trace: Trace, other: str, layer: int) -> Answer:
    """Return the token of another text whose stream after a layer, replaced by that of the text on screen, brings most of the
    likeliest token back."""
    from analysis.patches import Patches

    patches = Patches(model, trace, model.trace(other, target_text(trace)), position=predicts_at(model, trace))
    layers, _ = patches.shape("attention")
    if not 0 <= layer < layers:
        raise ValueError(f"There is no L{layer} in this model. It has {layers} layers.")
    effects = np.nan_to_num(patches.effects("stream")[layer + 1], nan=-np.inf)
    tokens = patches.tokens(patches.base)
    return choice_among(list(dict.fromkeys(label_at(tokens, int(at)) for at in np.argsort(-effects, kind="stable"))))


@register("beats every random order")
def beats_chance(model: LanguageModel, trace: Trace, method: str) -> Answer:
    """Tell whether the prediction falls faster when tokens are deleted in the order of a method, as page "Flow" names it, than in
    each of 20 random orders."""
    from analysis.attribution import METHODS, Attribution
    from analysis.attribution_tests import Question, faithfulness

    if method not in (*METHODS, "leave-one-out"):
        raise ValueError(f"There is no method {quoted(method)}. There are {', '.join(METHODS)} and leave-one-out.")
    position = predicts_at(model, trace)
    token = int(logits_of(model, trace).argmax())
    scores = {} if method == "leave-one-out" else {method: Attribution(model, trace, position, token).scores(method)}
    return yes_or_no(faithfulness(Question(model, trace, position, token, keep_last=True), scores).faster(method))


@register("word that matters most")
def matters_most(model: LanguageModel, trace: Trace) -> Answer:
    """Return the token without which the prediction loses most, each left out alone."""
    from analysis.attribution_tests import Question
    from analysis.explaining import explain

    position = predicts_at(model, trace)
    question = Question(model, trace, position, int(logits_of(model, trace).argmax()), keep_last=True)
    scores = np.nan_to_num(explain(question, "leave-one-out").scores, nan=-np.inf)
    tokens = [*trace.tokens, *trace.target]
    return choice_among(list(dict.fromkeys(label_at(tokens, int(at)) for at in np.argsort(-scores))))


# Importing these registers the answers about pictures and about published findings, listed after those above.
from analysis import picture_answers  # noqa: E402, F401, I001
from analysis import paper_answers  # noqa: E402, F401
