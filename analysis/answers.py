"""Questions of a lesson, answered by the model that is in use: each by a name that a lesson's file can say."""

from __future__ import annotations

import numpy as np

from analysis.answering import (
    ANSWERS,
    OFFERED,
    Answer,
    answer,
    beside,
    called,
    check_given,
    chosen,
    edits_of,
    id_of,
    kind_of,
    logits_of,
    named,
    per_cent,
    place_of,
    predicts_at,
    weights_of,
    written,
    yes_or_no,
)
from models.huggingface.names import quoted
from models.language_model import LanguageModel, softmax
from models.strategy import Strategy
from models.trace import Trace

__all__ = ["ANSWERS", "Answer", "answer", "check_given"]

SAID = 40  # tokens that a model goes on with to see whether it repeats itself


# ---------------------------------------------------------------- tokens and predictions


@named("number of tokens")
def count_tokens(model: LanguageModel, trace: Trace) -> Answer:
    """How many tokens were made of what was typed; those that the tokenizer adds are not counted."""
    return Answer(sum(token.start < token.end for token in trace.tokens))


@named("tokens of a word")
def split_word(model: LanguageModel, trace: Trace, word: str) -> Answer:
    """Into how many tokens a word is cut."""
    return Answer(sum(token.start < token.end for token in model.tokenize(word)))


@named("same token")
def same_token(model: LanguageModel, trace: Trace, first: str, second: str) -> Answer:
    """Whether two texts are one and the same entry of the vocabulary."""
    typed = ([token.id for token in model.tokenize(text) if token.start < token.end] for text in (first, second))
    return yes_or_no(next(typed) == next(typed))


@named("size of the vocabulary")
def vocabulary_size(model: LanguageModel, trace: Trace) -> Answer:
    """How many tokens the model knows."""
    return Answer(model.info.vocabulary)


@named("likeliest token")
def likeliest(model: LanguageModel, trace: Trace, without: str = "") -> Answer:
    """What the model predicts, at the end or at the first mask. without: changes, as the address of page "Change" writes them."""
    logits = logits_of(model, trace, edits_of(without, model))
    others = [int(id) for id in np.argsort(-logits)[: 3 * OFFERED]]
    before = int(logits_of(model, trace).argmax())
    return chosen([written(model, id) for id in dict.fromkeys([others[0], before, *others])])


@named("likeliest token is")
def likeliest_is(model: LanguageModel, trace: Trace, token: str, after: str = "") -> Answer:
    """Whether a token is the likeliest; after: another text than the one on screen."""
    best = int(logits_of(model, model.trace(after) if after else trace).argmax())
    return yes_or_no(written(model, best) == token.strip())


@named("says the same again")
def says_the_same(model: LanguageModel, trace: Trace, tokens: int = 5) -> Answer:
    """Whether the model, always with its likeliest token, says the same tokens when it is asked twice."""
    once, again = ([step.token.id for step in model.generate(trace.text, max_new_tokens=tokens)] for _ in range(2))
    return yes_or_no(once == again)


@named("probability")
def probability(model: LanguageModel, trace: Trace, token: str = "", temperature: float = 1.0, without: str = "") -> Answer:
    """The share of the likeliest token, or of one that is named, in per cent. Right within a tenth of it, or of what it lacks to
    100, and at most 3. without: changes, after which the token that was the likeliest is asked about."""
    before = logits_of(model, trace)
    after = softmax(logits_of(model, trace, edits_of(without, model)), temperature)
    return per_cent(float(after[id_of(model, token, int(before.argmax()))]))


@named("still predicts it")
def still_predicts(model: LanguageModel, trace: Trace, without: str) -> Answer:
    """Whether the likeliest token stays the same with changes, as the address of page "Change" writes them."""
    return yes_or_no(int(logits_of(model, trace).argmax()) == int(logits_of(model, trace, edits_of(without, model)).argmax()))


@named("is surer here")
def is_surer(model: LanguageModel, trace: Trace, than: str) -> Answer:
    """Whether the model gives its likeliest token a greater share here than in another text."""
    here, there = (softmax(logits_of(model, one)).max() for one in (trace, model.trace(than)))
    return yes_or_no(bool(here > there))


@named("token drawn")
def drawn(model: LanguageModel, trace: Trace, temperature: float = 1.0, seed: int = 0) -> Answer:
    """The next token, drawn by dice. seed: the number of the draw, as on page "Generate"."""
    step = next(iter(model.generate(trace.text, Strategy("sampling", temperature=temperature, seed=seed), 1)))
    others = [int(id) for id in np.argsort(-step.logits)[: 3 * OFFERED]]
    return chosen(list(dict.fromkeys(written(model, id) for id in (step.token.id, *others))))


@named("repeats itself")
def repeats_itself(model: LanguageModel, trace: Trace, penalty: float = 1.0) -> Answer:
    """Whether the model, always with its likeliest token, ends in a loop within 40 tokens. penalty: on what was said before."""
    from models.repeats import loop

    steps = model.generate(trace.text, Strategy(repetition_penalty=penalty), SAID)
    return yes_or_no(loop([step.token.id for step in steps], least=12) is not None)


@named("order matters")
def order_matters(model: LanguageModel, trace: Trace, other: str, positions: bool = True) -> Answer:
    """Whether the same words in another order get another prediction. positions: whether the model knows where they stand."""
    reader = model if positions else model.without_positions()
    first, second = (int(logits_of(reader, reader.trace(text)).argmax()) for text in (trace.text, other))
    return yes_or_no(first != second)


@named("first layer that predicts it")
def settles(model: LanguageModel, trace: Trace) -> Answer:
    """After how many blocks the final answer is the likeliest token and stays it, by the logit lens."""
    from analysis.lens import lens

    return Answer(int(lens(trace, [predicts_at(model, trace)]).settled[0]))


@named("likeliest token after a layer")
def likeliest_after(model: LanguageModel, trace: Trace, layer: int) -> Answer:
    """What the model would predict if it stopped after that layer, by the logit lens."""
    from analysis.lens import lens

    ids = lens(trace, [predicts_at(model, trace)]).ids
    if not 0 <= layer < len(ids) - 1:
        raise ValueError(f"There is no L{layer} in this model. It has {len(ids) - 1} layers.")
    return chosen(list(dict.fromkeys(written(model, int(id)) for id in (*ids[layer + 1, 0], *ids[-1, 0]))))


@named("numbers of a token")
def width(model: LanguageModel, trace: Trace) -> Answer:
    """How many numbers the model keeps for each token, from the first layer to the last."""
    return Answer(model.info.d_model)


# ---------------------------------------------------------------- attention


@named("most attended token")
def most_attended(model: LanguageModel, trace: Trace, layer: int, head: int, from_: str = "", kind: str = "") -> Answer:
    """At which token a head looks most, from the last place of a token (or from the last token)."""
    attention = trace.attention[kind_of(trace, kind)]
    query = place_of(attention.queries, from_)
    order = np.argsort(-weights_of(trace, layer, head, kind)[query])
    names = [called(attention.keys, int(key)) for key in order]
    return chosen(list(dict.fromkeys(names)))


@named("weight")
def weight(model: LanguageModel, trace: Trace, layer: int, head: int, from_: str, to: str, kind: str = "") -> Answer:
    """The share that a head gives from one token to another, the last of that text each, in per cent. Right within
    a tenth of it, or of what it lacks to 100, and at most 3."""
    attention = trace.attention[kind_of(trace, kind)]
    places = place_of(attention.queries, from_), place_of(attention.keys, to)
    return per_cent(float(weights_of(trace, layer, head, kind)[places]))


@named("greatest score")
def greatest_score(model: LanguageModel, trace: Trace, layer: int, head: int, from_: str, to: str, kind: str = "") -> Answer:
    """Whether a query matches a key better than any other that it may look at."""
    attention = trace.attention[kind_of(trace, kind)]
    query, key = place_of(attention.queries, from_), place_of(attention.keys, to)
    seen = weights_of(trace, layer, head, kind)[query] > 0
    scores = attention.scores(layer)[head][query]
    return yes_or_no(int(np.where(seen, scores, -np.inf).argmax()) == key)


@named("number of heads")
def count_heads(model: LanguageModel, trace: Trace) -> Answer:
    """How many heads all layers have together."""
    return Answer(sum(sum(attention.counts) for attention in trace.attention.values()))


@named("looks ahead")
def looks_ahead(model: LanguageModel, trace: Trace) -> Answer:
    """Whether any head gives any weight to a later token."""
    attention = trace.attention[kind_of(trace, "")]
    return yes_or_no(any(bool(np.triu(attention[layer], 1).any()) for layer in range(attention.layers)))


@named("head that looks most")
def looks_most(model: LanguageModel, trace: Trace, at: str, kind: str = "") -> Answer:
    """Which head looks most at one of the well-known places of `head_scores`: previous, current, next, first, separator,
    duplicate, induction."""
    from analysis.heads import head_scores

    table = head_scores(model, kind=kind or None)
    if at not in table.columns[2:]:
        raise ValueError(f"A head does not look {quoted(at)}. It looks {', '.join(table.columns[2:])}.")
    best = table.sort_values(at, ascending=False)
    return chosen([f"L{layer} H{head}" for layer, head in zip(best["layer"], best["head"], strict=True)])


@named("has an induction head")
def has_induction(model: LanguageModel, trace: Trace, least: float = 0.5) -> Answer:
    """Whether a head gives most of its attention to what followed earlier copies, over random words said twice."""
    from analysis.heads import head_scores

    kind = "decoder" if model.info.kind == "encoder-decoder" else None
    return yes_or_no(bool(head_scores(model, kind=kind)["induction"].max() >= least))


@named("head that matters most")
def head_that_matters(model: LanguageModel, trace: Trace) -> Answer:
    """Without which head the likeliest token loses most of its probability, each switched off by itself."""
    from analysis.effects import head_effects

    effects = head_effects(model, trace.text, predicts_at(model, trace), target=beside(trace))
    places = zip(*np.unravel_index(np.argsort(effects, axis=None), effects.shape), strict=True)
    return chosen([f"L{layer} H{head}" for layer, head in places])


@named("beats every random order")
def beats_chance(model: LanguageModel, trace: Trace, method: str) -> Answer:
    """Whether the prediction falls faster when tokens leave in the order of a method, as page "Flow" names it, than in each of 20
    orders drawn at random."""
    from analysis.attribution import METHODS, Attribution
    from analysis.perturbation import Question, faithfulness

    if method not in (*METHODS, "leave-one-out"):
        raise ValueError(f"There is no method {quoted(method)}. There are {', '.join(METHODS)} and leave-one-out.")
    position = predicts_at(model, trace)
    token = int(logits_of(model, trace).argmax())
    scores = {} if method == "leave-one-out" else {method: Attribution(model, trace, position, token).scores(method)}
    return yes_or_no(faithfulness(Question(model, trace, position, token), scores).faster(method))


@named("word that matters most")
def matters_most(model: LanguageModel, trace: Trace) -> Answer:
    """Without which token the prediction loses most, each left out by itself."""
    from analysis.explaining import explain
    from analysis.perturbation import Question

    position = predicts_at(model, trace)
    question = Question(model, trace, position, int(logits_of(model, trace).argmax()))
    scores = np.nan_to_num(explain(question, "leave-one-out").scores, nan=-np.inf)
    tokens = [*trace.tokens, *trace.target]
    return chosen(list(dict.fromkeys(called(tokens, int(at)) for at in np.argsort(-scores))))


# Those about published findings are asked for by name as well, and listed after ours.
from analysis import paper_answers  # noqa: E402, F401
