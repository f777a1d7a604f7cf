"""The sum behind a number: the factors, each product, and their sum; a click follows a factor to its source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from viz.view import View, pack


@dataclass(frozen=True)
class Product:
    """A term of the sum, and the two factors whose product it is. open: whether a click on it leads to its source."""

    label: str
    value: float
    left: float
    right: float
    open: tuple[bool, bool] = (False, False)


def sum_view(
    name: str,
    value: float,
    products: Sequence[Product],
    rest: tuple[int, float] | None = None,
    *,
    left: str = "",
    right: str = "",
    trail: Sequence[str] = (),
    lookup: bool = False,
) -> View:
    """Draw a row for each product, in the given order, then one for the rest (their number and sum), then the total.

    name: of the number; left, right: names of the two factors. trail: the numbers that the reader followed to this one, in order.
    lookup: nothing is added up: each row has a number, named `left`, and what was looked up for it, its `value`, named `right`.
    A click sends `chosen`: `{"term": row, "side": 0 or 1, "n"}` for an open factor, or `{"back": number of the trail, "n"}`,
    where `n` grows. Without rows only the number is shown. Raises ValueError where rows and rest do not add up to the value.
    """
    total = sum(product.value for product in products) + (rest[1] if rest else 0.0)
    size = sum(abs(product.value) for product in products) + abs(value) + (abs(rest[1]) if rest else 0.0)
    if products and np.isfinite(size) and abs(total - value) > 1e-3 * max(1.0, size):
        raise ValueError(f"The terms add up to {total:.6g}, and not to {value:.6g}.")
    header: dict[str, Any] = {
        "label": f"How {name} came about",
        "name": name,
        "labels": [product.label for product in products],
        "open": [list(product.open) for product in products],
        "factors": [left, right],
        "more": rest[0] if rest else 0,
        "trail": list(trail),
        "lookup": lookup,
    }
    numbers = np.array([[product.left, product.right, product.value] for product in products], dtype=np.float32).reshape(-1, 3)
    sums = np.array([value, rest[1] if rest else 0.0], dtype=np.float32)
    return View("sum_view", pack(header, terms=numbers, sums=sums), header["label"])
