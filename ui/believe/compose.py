"""The boards "Which to believe" of two pages: two methods that disagree, and a method's order among random ones with the measures
of all methods."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from analysis import Faithfulness
from models.tokens import Patch
from ui.believe.tables import areas, points
from ui.believe.trial import HERE, Trial
from ui.believe.wording import allowed_of, distinct_orders, gap_of, too_few
from ui.escaping import plain
from ui.lexicon.marks import Marked
from ui.look import Look
from ui.picture import falling
from ui.picture.board import Board, Draft, Note, Table
from ui.picture.picture import Numbers, Picture
from viz import percent
from viz.tokens import label, named

NO_CHANCE, VERDICT, TEXT, ORDER = "no chance", "verdict", "text", "believe"
CONTRAST, LEAVE, COME = "contrast", "deletion", "insertion"
LINE, AREAS = "line", "areas"
ASKS, PAIR_VERDICT, PAIR = "pair-asks", "pair-verdict", "pair"
PAIR_CURVES = (f"{PAIR}-{LEAVE}", f"{PAIR}-{COME}")
FIRST = 3  # tokens of the order of each of two methods that are named
ABOVE = (LINE, TEXT)  # the curves, below the choice of a method
CURVES = (LEAVE, COME)  # side by side
OPEN = (CONTRAST, AREAS)  # below the curves; the others are folded
NUMBERED = 5  # tokens that are numbered in the text
LONGEST = 60  # tokens of a text that is repeated beside the verdict
SUPERSCRIPTS = "⁰¹²³⁴⁵"
STEPS, MEASURES, POINTS = "steps", "measures", "points"


def compose(look: Look, trial: Trial, evidence: Faithfulness | None = None, chosen: str = "") -> Board:
    """Return the board of a trial. It does not read the session, so any thread may call it.

    evidence: the curves; None where the prediction has no probability that could fall. chosen: the method whose order is shown.
    """
    draft = Draft(HERE, look)
    if evidence is None:
        draft.note(NO_CHANCE, "no chance")
        return draft.finished()
    titles, simple = titles_of(trial, evidence), look.beginner
    facts = trial.facts(draft.reader, evidence, chosen)
    draft.contents[VERDICT] = Note(verdict(draft, evidence, titles, chosen, facts))
    if trial.lines.get(chosen):
        draft.note(LINE, "line", **facts)
    if text := numbered(trial, evidence, chosen):
        way = "text masked" if trial.question.keeps_places else "text"
        covered = trial.of_image and draft.words("text covered", text=text)
        draft.note(TEXT, "text covered" if covered else way, text=text, **facts)
    draft.add(chart(draft, trial, evidence, chosen, coming=False), LEAVE)
    if not simple:
        draft.add(chart(draft, trial, evidence, chosen, coming=True), COME)
    if trial.question.against is not None:
        draft.note(CONTRAST, "contrast")
    whole = areas(draft.reader, evidence, titles, trial.lines)
    cuts = () if not look.narrow else (2, 4) if look.level == "expert" else (1,)  # a telephone is too narrow for all columns
    for number, (begin, end) in enumerate(pairwise((0, *cuts, len(whole.columns)))):
        draft.contents[f"{AREAS} {number}"] = Table(whole.iloc[:, begin:end])
    draft.note(ORDER, "believe masked" if trial.question.keeps_places else "believe", **facts)
    draft.note(STEPS, "every step" if evidence.exact else "some steps", **grid(evidence))
    draft.note(MEASURES, "measures", orders=len(evidence.random), tries=len(evidence.gaps), units=len(evidence.units))
    draft.contents[POINTS] = Table(points(evidence, titles, simple), scrolls=True)
    return draft.finished()


def rivals(trial: Trial, evidence: Faithfulness) -> tuple[str, ...]:
    """Return the first of a trial's rivals, and the first of the others that takes another token away first; of those that all
    begin with the same token, the first two. () for fewer than two."""
    tried = [name for name in dict.fromkeys(trial.rivals) if name in evidence.methods]
    if len(tried) < 2:
        return ()
    first, *others = tried
    start = evidence.methods[first].order[0]
    return first, next((name for name in others if evidence.methods[name].order[0] != start), others[0])


def compose_pair(look: Look, trial: Trial, evidence: Faithfulness, pair: tuple[str, str]) -> Board:
    """Return the board of two methods. It does not read the session, so any thread may call it."""
    draft = Draft(HERE, look)
    facts = facts_of(trial, evidence, pair)
    asks = ["pair asks masked" if trial.question.keeps_places else "pair asks", *(["pair stays"] if facts["stays"] else [])]
    draft.contents[ASKS] = Note(draft.paragraph(*asks, **facts))
    draft.contents[PAIR_VERDICT] = Note(draft.paragraph(*headings_of(evidence, pair), **facts))
    for key, coming in zip(PAIR_CURVES, (False, True), strict=True):
        draft.add(chart(draft, trial, evidence, pair[0], coming=coming, rival=pair[1], key=key), key)
    titles = {name: trial.titles[name] for name in pair}
    draft.contents[PAIR] = Table(areas(draft.reader, evidence, titles, trial.lines).iloc[:, 1:])
    for name, title in titles.items():  # which the first column has where the table is long
        if line := trial.lines.get(name):
            draft.note(f"{PAIR} {name}", "line", method=title, line=Marked(line))
    return draft.finished()


def headings_of(evidence: Faithfulness, pair: tuple[str, str]) -> list[str]:
    """Return the headings of the sentences on which of the two to believe."""
    verdicts = [evidence.verdict(name) for name in pair]
    better = verdicts.count("better")
    heading = "pair both" if better == 2 else "pair one" if better else "pair none"
    worse = ["pair worse"] if "worse" in verdicts else []
    return [heading, *worse, "pair chance", *(["verdict saturates"] if evidence.saturates else []), "one text"]


def facts_of(trial: Trial, evidence: Faithfulness, pair: tuple[str, str]) -> dict[str, object]:
    """Return the values for the sentences on two methods."""
    tokens = [*trial.look.trace.tokens, *trial.look.trace.target]
    facts: dict[str, object] = {}
    for key, name in zip(("first", "second"), pair, strict=True):
        order = [tokens[evidence.units[i]].text.strip(" ") or " " for i in evidence.methods[name].order[:FIRST]]
        facts |= {key: trial.titles[name], f"{key}_tokens": plain(", ".join(f"“{label(text)}”" for text in order))}
        facts |= {f"{key}_gap": gap_of(evidence.methods[name].gap), f"{key}_far": evidence.as_far(name)}
        facts[f"{key}_allowed"] = allowed_of(evidence, name)
    by_verdict = {evidence.verdict(name): trial.titles[name] for name in pair}
    facts |= {"better": by_verdict.get("better", ""), "worse": by_verdict.get("worse", "")}
    always = [token for token in trial.look.spell_tokens(trial.question.read) if token.special and token.start == token.end]
    stays = dict.fromkeys(named(token.text) for token in always)
    facts["stays"] = plain(" and ".join(f"“{text}”" for text in stays))
    facts |= {"tries": len(evidence.gaps), "full": percent(evidence.full), "methods": len(evidence.methods)}
    word = plain(f"“{named(trial.look.outcome(trial.question.token))}”")
    return facts | {"word": word, "subject": "picture" if trial.of_image else "text"}


def opens_on(trial: Trial, evidence: Faithfulness) -> str:
    """Return the method that the view opens on: the one that the visitor has just seen. Without one, of those that are better
    than chance, else of all, the one that is furthest from it; leave-one-out, which asked the model about each token itself, only
    where no other is better."""
    if trial.opens in evidence.methods:
        return trial.opens
    names = [name for name in trial.titles if name in evidence.methods]
    better = [name for name in names if evidence.verdict(name) == "better"]
    return max(better or names, key=lambda name: (name != "leave-one-out", evidence.methods[name].gap))


def verdict(draft: Draft, evidence: Faithfulness, titles: dict[str, str], chosen: str, facts: dict[str, object]) -> str:
    """Return sentences on whether a method's order is better than chance, and which orders are."""
    better = [title for name, title in titles.items() if evidence.verdict(name) == "better"]
    worse = [title for name, title in titles.items() if evidence.verdict(name) == "worse"]
    headings = [f"verdict {evidence.verdict(chosen)}", "bar" if len(evidence.methods) > 1 else "bar alone"]
    headings.append("summary" if better else "summary none")
    if worse:
        headings.append("summary worse")
    headings.append("one text")
    if evidence.saturates:
        headings.insert(1, "verdict saturates")
    if too_few(evidence) and evidence.verdict(chosen) == "none":
        headings.insert(1, "too few")
    facts = facts | {"distinct": f"{distinct_orders(evidence):,}"}
    subject = "picture" if "image" in draft.look.model.info.reads else "text"
    return draft.paragraph(*headings, **facts, subject=subject, names=plain(", ".join(better)), others=plain(", ".join(worse)))


def numbered(trial: Trial, evidence: Faithfulness, chosen: str) -> str:
    """Return the text as Markdown, with the tokens that a method takes away first in bold and numbered; "" for a text that is too
    long."""
    tokens = [*trial.look.trace.tokens, *trial.look.trace.target]
    if len(evidence.units) > LONGEST:
        return ""
    places = {evidence.units[unit]: place for place, unit in enumerate(evidence.methods[chosen].order[:NUMBERED], 1)}
    if isinstance(tokens[-1], Patch):
        return " · ".join(f"**{plain(tokens[i].text)}**{SUPERSCRIPTS[place]}" for i, place in places.items())
    words = []
    for i, token in enumerate(tokens):
        text = token.text
        if i in places:
            bare = text.strip(" ")
            is_word = bare[:1].isalnum() and bare[-1:].isalnum()  # Markdown has no bold comma before a raised number
            strong = f"**{plain(bare)}**" if is_word else plain(bare)
            words.append(f"{' ' * text.startswith(' ')}{strong}{SUPERSCRIPTS[places[i]]}")
        elif not token.special:
            words.append(plain(text))
    return "".join(words).strip()


def titles_of(trial: Trial, evidence: Faithfulness) -> dict[str, str]:
    """Return the titles of the methods that were tried."""
    return {name: title for name, title in trial.titles.items() if name in evidence.methods}


def grid(evidence: Faithfulness) -> dict[str, object]:
    """Return the numbers that say which steps were measured."""
    gaps = np.diff(evidence.counts)
    return {
        "points": len(gaps),
        "units": len(evidence.units),
        "widest": gaps.max(),
        "dense": int(np.argmax(gaps > 1)) or len(gaps),
    }


def chart(
    draft: Draft, trial: Trial, evidence: Faithfulness, chosen: str, coming: bool, rival: str = "", key: str = ""
) -> Picture:
    """Return the chart of the prediction's probability while tokens are deleted from the text, or inserted. rival: a second
    method, in place of all others; key: that of the picture, by default `COME` or `LEAVE`."""
    titles, simple = titles_of(trial, evidence), draft.look.beginner
    options = {
        "name": chosen,
        "others": [] if simple or rival else [name for name in titles if name != chosen],
        "titles": titles,
        "methods": list(trial.scores),
        "coming": coming,
        "exact": evidence.exact,
        "title": "" if simple else draft.words("title come" if coming else "title gone"),
        "across": draft.words("come" if coming else "gone"),
    }
    if rival:
        options["rival"] = rival

    def numbers() -> dict[str, Numbers]:
        each = {titles[name]: evidence.methods[name] for name in ([chosen] if simple else [chosen, rival] if rival else titles)}
        each |= {f"random order {i + 1}": order for i, order in enumerate(evidence.random)}
        chances = np.array([falling.chances(order, coming) for order in each.values()])
        return {"probability": Numbers(chances, ("order", "tokens"), {"order": list(each), "tokens": evidence.counts.tolist()})}

    return trial.picture(
        falling.falling,
        key or (COME if coming else LEAVE),
        f"Tokens {'come' if coming else 'leave'} by {titles[chosen]}{f' and by {titles[rival]}' if rival else ''}",
        options | trial.options,
        numbers=numbers,
        known={"evidence": evidence},
    )
