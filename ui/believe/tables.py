"""The measures of all methods as a table, and every point of their curves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis import Faithfulness
from analysis.attribution_tests import Curves
from ui.believe.wording import allowed_of, gap_of
from ui.lexicon.marks import Words
from viz import percent

HERE = Path(__file__).parent
VERDICTS = {"better": "better than chance", "worse": "worse than chance", "none": "could be chance"}
AS_FAR = "Random orders as far from 0 (for a verdict)"
WITH_ONLY, WITHOUT = "With only its first tokens (large is good)", "Without them (small is good)"
SIMPLE = {"better": "better than luck", "worse": "worse than luck", "none": "could be luck"}


def areas(reader: Words, evidence: Faithfulness, titles: dict[str, str], lines: Mapping[str, str]) -> pd.DataFrame:
    """Return a table with a row for each method and one for the random orders: the best method in bold, and verdicts by deletion
    and insertion, corrected for the number of methods. reader: returns the words of this folder; lines: as in `Trial`."""
    if reader.level == "intermediate":
        return differences(reader, evidence, titles, lines)
    simple, drawn = reader.level == "beginner", len(evidence.random)
    columns = {
        "Deletion area (small is good)": (lambda order: order.deletion_area, min),
        "Insertion area (large is good)": (lambda order: order.insertion_area, max),
        "Comprehensive\u00adness (large is good)": (lambda order: order.comprehensiveness, max),
        "Sufficiency (small is good)": (lambda order: order.sufficiency, min),
    }
    if simple:
        columns = {"Chance of the guess while tokens are taken away (small is good)": (lambda order: order.deletion_area, min)}
    methods, at_random = [name for name in titles if name != "leave-one-out"], reader(HERE, "at random", orders=drawn)
    rows: dict[str, list[str]] = {name: [] for name in (*titles.values(), at_random)}
    for of, best in columns.values():
        top = best(methods, key=lambda name: of(evidence.methods[name]))
        for name, title in titles.items():
            text = signed(of(evidence.methods[name]))
            rows[title].append(f"**{text}**" if name == top else text)
        each = [of(order) for order in evidence.random]
        rows[at_random].append(f"{signed(float(np.median(each)))} ({signed(min(each))} to {signed(max(each))})")
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=list(columns))
    if not simple:
        frame["Insertion − deletion, in points (0: chance)"] = [
            *(gap_of(evidence.methods[name].gap) for name in titles),
            spread(evidence.gaps),
        ]
    frame[AS_FAR] = [*(far_of(evidence, name) for name in titles), "–"]
    verdicts = SIMPLE if simple else VERDICTS
    frame["Verdict"] = [*(verdicts[evidence.verdict(name)] for name in titles), "–"]
    if not simple:
        ranks = [evidence.methods[name].correlation for name in titles]
        frame["Rank correlation with leave-one-out"] = [
            *("–" if rank is None else f"{rank:.2f}".replace("-", "−") for rank in ranks),
            "0 on average",
        ]
    return frame


def differences(reader: Words, evidence: Faithfulness, titles: dict[str, str], lines: Mapping[str, str]) -> pd.DataFrame:
    """Return a table with the two averages of each method, and their difference, which the verdict is about."""
    rows = {}
    for name in sorted(titles, key=lambda name: -evidence.methods[name].gap):
        verdict = VERDICTS[evidence.verdict(name)]
        words = f"**{verdict}**" if evidence.verdict(name) == "better" else verdict
        rows[titles[name]] = [lines.get(name, "–"), *averages(evidence.methods[name]), words]
    rows[reader(HERE, "all at random", tries=len(evidence.gaps))] = ["–", "–", "–", spread(evidence.gaps), "–"]
    columns = ["What it does", WITH_ONLY, WITHOUT, "Difference in points (0: chance)", "Verdict"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def averages(curves: Curves) -> tuple[str, str, str]:
    """Return the mean probability with only the first tokens, that without them, and the difference in points."""
    return percent(curves.alone), percent(curves.without), gap_of(curves.gap)


def far_of(evidence: Faithfulness, name: str) -> str:
    """Return how many random orders came out as far from 0 as a method's, and how many may for a verdict."""
    return f"{evidence.as_far(name)} of {len(evidence.gaps)} ({allowed_of(evidence, name)})"


def spread(gaps: np.ndarray) -> str:
    """Return the median and the range of differences, in points."""
    return f"{gap_of(float(np.median(gaps)))} ({gap_of(float(gaps.min()))} to {gap_of(float(gaps.max()))})"


def points(evidence: Faithfulness, titles: dict[str, str], simple: bool) -> pd.DataFrame:
    """Return a table of every point of the curves. simple: without the insertion curves."""
    columns: dict[str, Any] = {"Tokens": evidence.random[0].counts}
    for name, title in titles.items():
        columns[f"{title}: gone"] = [percent(chance) for chance in evidence.methods[name].deletion]
        if not simple:
            columns[f"{title}: come"] = [percent(chance) for chance in evidence.methods[name].insertion]
    return pd.DataFrame(columns)


def signed(value: float) -> str:
    if abs(value) < 1e-5:
        return "0\u00a0%" if value == 0 else "nearly 0\u00a0%"
    return percent(value) if value > 0 else "−" + percent(-value)
