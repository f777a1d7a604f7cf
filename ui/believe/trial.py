"""A prediction, the methods whose orders are tried on it, and the values for sentences about the result. Nothing here reads the
session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from analysis import Faithfulness, Question
from ui.believe.wording import allowed_of, count_methods, gap_of
from ui.escaping import plain
from ui.lexicon.marks import Marked, Words
from ui.look import Look
from ui.picture.picture import Picture
from viz import percent
from viz.tokens import label, named

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Trial:
    """A prediction, and the methods whose orders are tried on it.

    key: everything that the answer depends on. scores: by method, a number for each token that is read. titles: the methods'
    titles in the order shown; "leave-one-out" may be among them without scores. picture: makes a picture from a recipe, as a
    page's `Asked` does; options: further options of the recipe. lines: what a method does, in one line, where a level has that.
    opens: the method that another view of the page has just shown; its order is the first to be tried. rivals: the methods of
    which two that disagree stand in front of all; () for none.
    """

    look: Look
    question: Question
    key: tuple
    scores: dict[str, np.ndarray]
    titles: dict[str, str]
    picture: Callable[..., Picture]
    options: dict[str, Any] = field(default_factory=dict)
    lines: Mapping[str, str] = field(default_factory=dict)
    opens: str = ""
    rivals: tuple[str, ...] = ()

    @property
    def chance(self) -> bool:
        """Whether the prediction has a probability that could fall; a label may be a plain number instead."""
        labels = self.look.model.info.labels
        return labels is None or labels.chances

    @property
    def of_image(self) -> bool:
        """Whether the tokens are patches of a picture, which are covered and not taken out."""
        return "image" in self.look.model.info.reads

    def facts(self, reader: Words, evidence: Faithfulness, chosen: str) -> dict[str, object]:
        """Return the values for sentences about a method's order, with its verdict and whether the text saturates. reader:
        returns the words.
        """
        ours, areas = evidence.methods[chosen], [order.deletion_area for order in evidence.random]
        tokens = [*self.look.trace.tokens, *self.look.trace.target]
        first_tokens = ["“" + label(tokens[evidence.units[i]].text.strip(" ") or " ") + "”" for i in ours.order[:5]]
        values = {
            "method": self.titles[chosen],
            "first": plain(", ".join(first_tokens)),
            "full": percent(evidence.full),
            "empty": percent(evidence.empty),
            "left": percent(ours.deletion_area),
            "orders": len(areas),
            "median": percent(np.median(areas)),
            "least": percent(min(areas)),
            "most": percent(max(areas)),
            "beaten": evidence.beaten(chosen),
            "ahead": evidence.ahead(chosen),
            "tries": len(evidence.gaps),
            "far": evidence.as_far(chosen),
            "methods": count_methods(len(evidence.methods), sum(name in evidence.methods for name in self.titles)),
            "alone": percent(ours.alone),
            "without": percent(ours.without),
            "lower": sum(order.without > ours.without for order in evidence.random),
            "higher": sum(order.alone < ours.alone for order in evidence.random),
            "units": len(evidence.units),
            "gap": gap_of(ours.gap),
            "allowed": allowed_of(evidence, chosen),
            "line": Marked(self.lines.get(chosen, "")),
            "word": plain(f"“{named(self.look.outcome(self.question.token))}”"),
            "luck": f"{evidence.corrected[chosen]:.3f}",
            "beside": "",
        }
        if more := len(evidence.gaps) - len(areas):  # of which the curves are not read, and which count for the verdict
            values["beside"] = " " + reader(HERE, "beside", orders=len(areas), more=more)
        headings = ["no verdict" if evidence.verdict(chosen) == "none" else evidence.verdict(chosen)]
        if evidence.saturates:
            headings.append(f"saturates {evidence.saturates}")
            gone, early, half, left = evidence.middle
            values |= {"gone": gone, "early": percent(early), "half": half, "left_half": percent(left)}
        verdict = [text for heading in headings if (text := reader(HERE, heading, **values))]
        return values | {"verdict": Marked(" ".join(verdict))}
