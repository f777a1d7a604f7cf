"""Answers to questions about published findings: the paper's measurements on the model in use."""

from __future__ import annotations

import numpy as np

from analysis.answer_checks import Answer, Numbers, choice_among, edits_of, kind_of, register, weights_of
from models.huggingface.names import quoted
from models.language_model import LanguageModel
from models.trace import Trace


@register("heads that look")
def heads_that_look(
    model: LanguageModel, trace: Trace, at: str, least: float = 0.5, kind: str = "", total: bool = False
) -> Answer:
    """Count the heads that give at least this share of their attention to one of the well-known places of `head_scores`. total:
    whether the answer names the number of all heads."""
    shares = scores_of(model, at, kind)
    count = int((shares >= least).sum())
    return Answer(f"{count} of {len(shares)}") if total else Answer(count)


@register("share of a head")
def share_of_head(
    model: LanguageModel, trace: Trace, at: str, layer: int, head: int, without: str = "", beside: Numbers = ()
) -> Answer:
    """Return the share of its attention that a head gives to a well-known place, over the texts of page "Heads", in per cent.
    without: changes, as the address of page "Change" writes them; beside: other numbers to choose among."""
    from analysis.heads import REPEATS, looks, mean_of
    from analysis.samples import natural, repeats

    scores_of(model, at)
    texts = list(repeats(model) if at in REPEATS else natural())
    traces = model.traces(texts, [edits_of(without, model)] * len(texts))
    weights_of(traces[0], layer, head)
    shares = np.stack([looks(sample_trace, kind_of(sample_trace, ""))[at] for sample_trace in traces])
    return among(100 * float(mean_of(shares)[layer, head]), beside, 0)


@register("share on special tokens")
def special_share(model: LanguageModel, trace: Trace, layer: int, beside: Numbers = ()) -> Answer:
    """Return the share of its attention that a layer gives to tokens that nobody typed, over its heads and the typed tokens of
    the texts of page "Heads", in per cent. beside: other numbers to choose among."""
    from analysis.samples import natural

    shares = []
    for sample_trace in model.traces(list(natural())):
        attention = sample_trace.attention[kind_of(sample_trace, "")]
        weights_of(sample_trace, layer, 0)
        is_typed = np.array([token.start < token.end for token in attention.queries])
        shares.append(attention[layer][:, is_typed][..., ~is_typed].sum(-1).mean())
    return among(100 * float(np.mean(shares)), beside, 0)


@register("surprise at words said twice")
def surprise_twice(model: LanguageModel, trace: Trace, without: str = "", beside: Numbers = ()) -> Answer:
    """Return the mean −ln p of a token, in nats, in the second round of repeated random words. without: changes; beside: other
    numbers to choose among."""
    from analysis.in_context import said_twice

    return among(said_twice(model, edits_of(without, model))[1], beside, 1)


@register("gain from context")
def context_gain(model: LanguageModel, trace: Trace, without: str = "", beside: Numbers = ()) -> Answer:
    """Return how many nats a token of the built-in sample gains on average from a long text over 50 tokens.
    without: changes; beside: other numbers to choose among."""
    from analysis.in_context import context_gains

    return among(float(context_gains(model, edits_of(without, model)).mean()), beside, 2)


@register("head that finds")
def head_that_finds(model: LanguageModel, trace: Trace, relation: str) -> Answer:
    """Return the head that looks most often from a word to the one that it belongs to. relation: article (to its noun) or object
    (to its verb)."""
    from analysis.word_pairs import found_by_heads

    shares = found_by_heads(model, relation)
    return choice_among(
        [f"L{place // shares.shape[1]} H{place % shares.shape[1]}" for place in np.argsort(-shares, axis=None, kind="stable")]
    )


@register("how often it finds")
def how_often(model: LanguageModel, trace: Trace, relation: str, beside: Numbers = ()) -> Answer:
    """Return how often the best head looks from a word to the one that it belongs to, in per cent. relation: as in “head that
    finds”; beside: other numbers to choose among."""
    from analysis.word_pairs import found_by_heads

    return among(100 * float(found_by_heads(model, relation).max()), beside, 0)


@register("how often a distance finds it")
def how_often_a_distance(model: LanguageModel, trace: Trace, relation: str) -> Answer:
    """Return how often the best fixed distance finds the word that a word belongs to, in per cent of the same sentences: a head
    has to beat this. No model is used. relation: as in “head that finds”."""
    from analysis.word_pairs import found_by_distance

    return among(100 * found_by_distance(relation)[0], (), 0)


@register("verb agrees")
def verb_agrees(model: LanguageModel, trace: Trace, beside: Numbers = ()) -> Answer:
    """Return how often the verb that agrees is the likelier of “was” and “were”, in per cent of 32 sentences.
    beside: other numbers to choose among."""
    from analysis.verb_number import agreeing

    return among(100 * agreeing(model), beside, 0)


@register("agrees with blanks")
def agrees_with_blanks(
    model: LanguageModel, trace: Trace, method: str, layer: int | None = None, signed: bool = False, beside: Numbers = ()
) -> Answer:
    """Return the rank correlation of a method of page "Flow" with the effect of blanking out each token, over 32 sentences.
    layer: the last one that counts; signed: whether a token that weakens the verb counts below 0; beside: other numbers to choose
    among."""
    from analysis.verb_number import agreement_with_blanks

    return among(float(np.nanmean(agreement_with_blanks(model, method, layer, signed))), beside, 2)


@register("right name leads")
def right_name_leads(model: LanguageModel, trace: Trace, order: str = "", without: str = "", beside: Numbers = ()) -> Answer:
    """Return how often the name that occurs once is likelier than the one that occurs twice, in per cent of 96 sentences. order:
    “right name first” or “repeated name first”; without: changes; beside: other numbers to choose among."""
    from analysis.two_names import leads

    return among(100 * float((leads(model, order, edits_of(without, model)) > 0).mean()), beside, 0)


@register("right name is likeliest")
def right_name_is_likeliest(
    model: LanguageModel, trace: Trace, order: str = "", without: str = "", beside: Numbers = ()
) -> Answer:
    """Return how often the name that occurs once is the likeliest of all tokens, in per cent of the sentences of “right name
    leads”. order, without and beside: as there."""
    from analysis.two_names import likeliest

    return among(100 * float(likeliest(model, order, edits_of(without, model)).mean()), beside, 0)


@register("lead of the right name")
def lead_of_the_right_name(model: LanguageModel, trace: Trace, order: str = "", without: str = "") -> Answer:
    """Return how far the logit of the name that occurs once is above the other's, on average over the sentences of “right name
    leads”. order and without: as there."""
    from analysis.two_names import leads

    return among(float(leads(model, order, edits_of(without, model)).mean()), (), 2)


@register("attention to a name")
def attention_to_name(
    model: LanguageModel, trace: Trace, layer: int, head: int, to: str, order: str = "", without: str = "", beside: Numbers = ()
) -> Answer:
    """Return the share that a head gives, from the end of sentences with two names, to one of them, in per cent. to: right,
    repeated or again (its second occurrence); order, without and beside: as in “right name leads”."""
    from analysis.two_names import looks_at_names

    weights = looks_at_names(model, order, edits_of(without, model))
    if to not in weights:
        raise ValueError(f"There is no name {quoted(to)}. There are {', '.join(weights)}.")
    weights_of(trace, layer, head)
    return among(100 * float(weights[to][layer, head]), beside, 0)


# ---------------------------------------------------------------- shared helpers


def among(value: float, beside: Numbers, digits: int) -> Answer:
    """Return a number as a choice among others, the smallest first; without others it is typed, right within 5 % or a digit."""
    rounded = round(value, digits) + 0.0
    if not beside:
        return Answer(rounded, within=max(0.05 * abs(rounded), 10.0**-digits))
    numbers = sorted({rounded, *map(float, beside)})
    return Answer(format_number(rounded, digits), tuple(format_number(number, digits) for number in numbers))


def format_number(number: float, digits: int) -> str:
    """Format a number with so many digits, or with all of its digits."""
    text = f"{number:.{digits}f}" if round(number, digits) == number else f"{number:g}"
    return text.replace("-", "−")


def scores_of(model: LanguageModel, at: str, kind: str = "") -> np.ndarray:
    """Return a column of `head_scores`. Errors: ValueError for a place that does not exist."""
    from analysis.heads import head_scores

    table = head_scores(model, kind=kind or None)
    if at not in table.columns[2:]:
        raise ValueError(f"A head does not look {quoted(at)}. It looks {', '.join(table.columns[2:])}.")
    return table[at].to_numpy()
