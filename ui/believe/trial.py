"""Runs the test of "Which to believe" as a job, after a click if it takes minutes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from analysis import Faithfulness, Question, faithfulness
from analysis.perturbation import texts_read
from ui import effort
from ui.effort import format_duration, is_begun, offer
from ui.look import Look
from ui.memory import jobs
from ui.picture.picture import Picture
from ui.text import plain
from ui.words import paragraph, say, words
from viz import percent
from viz.tokens import label

HERE = Path(__file__).parent
LONG = 60.0  # seconds; what takes longer is measured on a grid of steps, and what takes longer even so when somebody asks for it
LONGEST = 3600.0  # seconds; every step is offered where it takes no longer


@dataclass(frozen=True)
class Trial:
    """A prediction, and the methods whose orders are tried on it.

    key: all that the answer hangs on. scores: by method, a number for each token that is read. titles: what each is called, in
    the order shown; "leave-one-out" may be among them without scores. picture: makes a picture of a recipe, as a page's `Asked`
    does; options: what the recipe needs beside what that gives it.
    """

    look: Look
    question: Question
    key: tuple
    scores: dict[str, np.ndarray]
    titles: dict[str, str]
    picture: Callable[..., Picture]
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def chance(self) -> bool:
        """Whether there is a chance that could fall: some heads give a number."""
        labels = self.look.model.info.labels
        return labels is None or labels.chances

    def seconds(self, exact: bool) -> float:
        """About how long the curves take."""
        units = len(self.question.units)
        length = self.question.length - (0 if self.question.mask else units / 2)  # what is deleted is half on average
        return effort.seconds(self.look.model.info, length, texts_read(units, len(self.scores), exact=exact))

    def measure(self, finer: bool = True) -> Faithfulness | None:
        """The curves, at every step where that is quick or asked for, else on a grid; None while they are under way, or wait
        for a press. finer: every step is offered where a grid is measured."""
        keys = {exact: ("faithful", *self.key, tuple(self.scores), exact) for exact in (True, False)}
        every, fewer = self.seconds(True), self.seconds(False)
        exact = every <= LONG or is_begun(keys[True])
        if not exact:
            if waits := fewer > LONG and not is_begun(keys[False]):
                say(HERE, "takes long")
                offer(f"Measure some of the steps ({format_duration(fewer)})", keys[False])
            if every <= LONGEST and (finer or waits):
                offer(f"Measure every step ({format_duration(every)})", keys[True])
            if waits:
                return None
        return jobs.result(
            keys[exact],
            lambda report: faithfulness(self.question, self.scores, exact=exact, report=report),
            "Reading changed texts",
        )

    def facts(self, evidence: Faithfulness, chosen: str) -> dict[str, object]:
        """What words say of a method's order, its verdict among it, and whether the text saturates."""
        ours, areas = evidence.methods[chosen], [order.deletion_area for order in evidence.random]
        tokens = [*self.look.trace.tokens, *self.look.trace.target]
        first_tokens = ["“" + label(tokens[evidence.units[i]].text.strip(" ") or " ") + "”" for i in ours.order[:5]]
        values = {
            "method": self.titles[chosen], "first": plain(", ".join(first_tokens)), "full": percent(evidence.full),
            "empty": percent(evidence.empty), "left": percent(ours.deletion_area), "orders": len(areas),
            "median": percent(np.median(areas)), "least": percent(min(areas)), "most": percent(max(areas)),
            "beaten": evidence.beaten(chosen), "ahead": evidence.ahead(chosen), "tries": len(evidence.gaps),
            "methods": "one method" if len(evidence.methods) == 1 else f"{len(evidence.methods)} methods",
            "gap": f"{100 * ours.gap:+.3g}".replace("-", "−"), "luck": f"{evidence.corrected[chosen]:.3f}", "beside": "",
        }  # fmt: skip
        if more := len(evidence.gaps) - len(areas):  # of which the curves are not read, and which count for the verdict
            values["beside"] = " " + words(HERE, "beside", orders=len(areas), more=more)
        headings = ["no verdict" if evidence.verdict(chosen) == "none" else evidence.verdict(chosen)]
        if evidence.saturates:
            headings.append(f"saturates {evidence.saturates}")
            gone, early, half, left = evidence.middle
            values |= {"gone": gone, "early": percent(early), "half": half, "left_half": percent(left)}
            values |= {"units": len(evidence.units)}
        return values | {"verdict": paragraph(HERE, *headings, **values)}
