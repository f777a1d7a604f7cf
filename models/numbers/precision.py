"""The floating-point types that a model can calculate with, and a note on their precision."""

from __future__ import annotations

NAMES = ("float32", "bfloat16", "float16")
DIGITS = {"bfloat16": "two to three", "float16": "three to four"}
CHOSEN = (
    "It calculates in {dtype}, as was asked for: each number has {digits} digits, so what it predicts and where it looks differ "
    "a little from float32, and what should be equal is equal to about 1 part in {share}."
)


def name_of(dtype: object) -> str:
    """Return "float32", "bfloat16" or "float16", from such a name or from torch's type. Errors: ValueError for any other."""
    name = str(dtype).removeprefix("torch.")
    if name not in NAMES:
        raise ValueError(
            f"dtype must be {', '.join(NAMES[:-1])} or {NAMES[-1]}, by its name or as torch has it; it is {dtype!r}."
        )
    return name


def note(dtype: str) -> tuple[str, ...]:
    """Return the note on a model that calculates in this type because the user asked for it; () for float32."""
    if dtype not in DIGITS:
        return ()
    return (CHOSEN.format(dtype=dtype, digits=DIGITS[dtype], share="100" if dtype == "bfloat16" else "1,000"),)
