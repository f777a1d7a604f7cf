"""A number as people write it."""

from __future__ import annotations

import math
import re

GROUPS = re.compile(r"\d{1,3}(?P<apart>[ ,.'’])\d{3}(?:(?P=apart)\d{3})*")
NOT_ONE = "This question asks for a number."
EITHER = "“{number}” can be read in two ways. Write {whole}, or {part}."


def read(answer: str) -> float:
    """A number with a point or a comma for its decimals, or with its thousands apart: "3,5", "1 000", "1,000.5", "1.000.000". A
    point alone begins decimals, as on every page. Errors: ValueError, a sentence, for what is no number, and for "1,000", which
    is a thousand to some and one to others."""
    text = answer.strip().replace("−", "-")
    sign, digits = (text[:1], text[1:]) if text[:1] in ("+", "-") else ("", text)
    whole, part = split_decimals(digits)
    if re.fullmatch(r"[1-9]\d{0,2},\d{3}", digits):
        raise ValueError(EITHER.format(number=answer, whole=sign + digits.replace(",", ""), part=sign + digits.replace(",", ".")))
    if grouped := GROUPS.fullmatch(whole):
        text = f"{sign}{whole.replace(grouped['apart'], '')}{'.' if part else ''}{part}"
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(NOT_ONE)
    return number + 0.0  # never -0


def split_decimals(digits: str) -> tuple[str, str]:
    """What stands before the sign of the decimals and what after it; what is written twice is no such sign."""
    for mark in ".,":
        before, separator, after = digits.rpartition(mark)
        if separator and mark not in before and after.isdigit():
            return before, after
    return digits, ""
