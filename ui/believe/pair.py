"""The first board of "Which to believe": two methods that disagree, tried beside random orders."""

from __future__ import annotations

from analysis import Faithfulness
from ui.believe.compose import COME, LEAVE, chart
from ui.believe.tables import areas
from ui.believe.trial import HERE, Trial
from ui.believe.wording import gap_of
from ui.escaping import plain
from ui.lexicon.marks import Marked
from ui.look import Look
from ui.picture.board import Board, Draft, Note, Table
from viz import percent
from viz.tokens import label, named

ASKS, VERDICT, PAIR = "pair-asks", "pair-verdict", "pair"
CURVES = (f"{PAIR}-{LEAVE}", f"{PAIR}-{COME}")
FIRST = 3  # tokens of an order that are named


def rivals(trial: Trial, evidence: Faithfulness) -> tuple[str, ...]:
    """Return the first of a trial's rivals, and the first of the others that takes another token away first; of those that all
    begin with the same token, the first two. () for fewer than two."""
    tried = [name for name in dict.fromkeys(trial.rivals) if name in evidence.methods]
    if len(tried) < 2:
        return ()
    first, *others = tried
    start = evidence.methods[first].order[0]
    return first, next((name for name in others if evidence.methods[name].order[0] != start), others[0])


def compose(look: Look, trial: Trial, evidence: Faithfulness, pair: tuple[str, str]) -> Board:
    """Return the board of two methods. It does not read the session, so any thread may call it."""
    draft = Draft(HERE, look)
    facts = facts_of(trial, evidence, pair)
    draft.note(ASKS, "pair asks masked" if trial.question.keeps_places else "pair asks", **facts)
    draft.contents[VERDICT] = Note(draft.paragraph(*headings_of(evidence, pair), **facts))
    for key, coming in zip(CURVES, (False, True), strict=True):
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
        facts[f"{key}_gap"] = gap_of(evidence.methods[name].gap)
    by_verdict = {evidence.verdict(name): trial.titles[name] for name in pair}
    facts |= {"better": by_verdict.get("better", ""), "worse": by_verdict.get("worse", "")}
    facts |= {"least": gap_of(float(evidence.gaps.min())), "most": gap_of(float(evidence.gaps.max()))}
    facts |= {"tries": len(evidence.gaps), "full": percent(evidence.full), "methods": len(evidence.methods)}
    word = plain(f"“{named(trial.look.outcome(trial.question.token))}”")
    return facts | {"word": word, "subject": "picture" if trial.of_image else "text"}
