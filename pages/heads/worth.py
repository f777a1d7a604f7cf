"""The worth of heads: the loss without each, compared with the estimate from its slope, and the loss as heads are removed."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from analysis.importance import ORDERS, POINTS, Importance, Pruning, head_importance, prune
from models.numbers.sizes import count
from pages.heads import recipes
from pages.heads import state as page_state
from pages.heads.corpus import HERE, Corpus
from pages.heads.naming import WRITTEN
from ui import state
from ui.choices import heads
from ui.choices.widgets import one_of
from ui.look import Look
from ui.picture.picture import Numbers, Picture
from ui.show import choice, picture, show, show_chart
from ui.words import say, words
from viz import percent
from viz.figures.importance import largest_bar

COLUMNS = {"effect": "measured", "gradient": "by its slope"}
BY = {
    "effect": page_state.HEADS_WORTH.values[0],
    "gradient": page_state.HEADS_WORTH.values[1],
    "": page_state.HEADS_WORTH.values[2],
}


def panel(corpus: Corpus, table: pd.DataFrame) -> list[Picture]:
    """Draw the scatter, the table and the curve. table: of labels, which are shown beside each head."""
    look = corpus.look
    heads_in_all = sum(look.attention.counts)
    importance = corpus.result(
        "head importance",
        heads_in_all + 3,
        lambda report: head_importance(look.model, corpus.texts, look.kind, report),
        "Switching heads off",
    )
    if importance is None:
        return []
    say(HERE, "worth most", **facts(importance, corpus))
    labels = [" + ".join(WRITTEN[name] for name in label.split(", ") if name) for label in table["label"]]
    options = {"kind": look.kind, "texts": corpus.texts and list(corpus.texts), "labels": labels}
    bars = Picture(
        recipes.worth_bars,
        (look,),
        options | {"chosen": look.layer * look.attention.heads + look.head},
        "heads-importance-bars",
        partial(numbers_of, look, recipes.sorted_by(importance.table, "effect")),
        title="What each head is worth, in order",
        takes=("model",),
        known={"importance": importance},
    )
    show_chart(bars.drawn, "heads-importance-bars")
    say(HERE, "worth bars", cut=cut_of(look, importance))
    say(HERE, "worth", **facts(importance, corpus))
    pictures = [bars]
    with st.expander("Every head in numbers"):
        pictures.append(in_numbers(look, importance, options))
    with st.expander("Compared with an estimate that switches nothing off"):
        pictures.append(against_slopes(corpus, importance, options))
    with picture("The curve"):
        pictures += draw_pruning(look, corpus, importance)
    return pictures


def cut_of(look: Look, importance: Importance) -> str:
    """Return a sentence on the bars that go beyond the end of the axis; "" if none does."""
    table = importance.table.dropna(subset=["effect"])
    cut = table[table["effect"].abs() > largest_bar(table["effect"].to_numpy())]
    names = [look.named(int(row["layer"]), int(row["head"])) for _, row in cut.iterrows()]
    return words(HERE, "worth cut", names=", ".join(names)) if names else ""


def against_slopes(corpus: Corpus, importance: Importance, options: dict) -> Picture:
    """Draw each head by its worth and by the estimate from its slope, and explain both."""
    look = corpus.look
    chart = Picture(
        recipes.worth,
        (look,),
        options | {"chosen": look.layer * look.attention.heads + look.head},
        "heads-importance",
        partial(numbers_of, look, importance.table),
        title="What each head is worth",
        takes=("model",),
        known={"importance": importance},
    )
    show_chart(chart.drawn, "heads-importance")
    has_ranges = bool(np.isfinite(importance.table["effect_low"]).any())
    ranges = words(HERE, "worth ranges") if has_ranges else ""
    say(HERE, "worth reading", **facts(importance, corpus), ranges=ranges)
    return chart


def facts(importance: Importance, corpus: Corpus) -> dict[str, str]:
    """Return the names and numbers in the words, with the head that is worth most."""
    order = importance.table.dropna(subset=["effect"]).sort_values("effect", ascending=False, kind="stable")
    best, second = order.iloc[0], order.iloc[min(1, len(order) - 1)]
    ranks = float(importance.table[["effect", "gradient"]].corr("spearman").to_numpy()[0, 1])
    return {
        "texts": corpus.description,
        "tokens": f"{importance.tokens:,}",
        "loss": f"{importance.loss:.2f}",
        "known": percent(1 - importance.unknown),
        "best": corpus.look.named(int(best["layer"]), int(best["head"])),
        "most": f"{best['effect']:.3f}",
        "second": corpus.look.named(int(second["layer"]), int(second["head"])),
        "next": signed_nats(second["effect"]),
        "middle": f"{order['effect'].abs().median():.3f}",
        "heads": str(len(order)),
        "agreement": f"{ranks:.2f}".replace("-", "−") if np.isfinite(ranks) else "–",
    }


def signed_nats(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def in_numbers(look: Look, importance: Importance, options: dict) -> Picture:
    """Draw a row for each head, in the chosen order. A click chooses the head."""
    by = one_of(page_state.HEADS_WORTH, page_state.HEADS_WORTH.values, "the order", menu=True, label="Sorted by", width=220)
    state.keep(page_state.HEADS_WORTH, by, page_state.HEADS_WORTH.values[0])
    name = {title: column for column, title in BY.items()}[by]
    order = recipes.sorted_by(importance.table, name)
    drawing = Picture(
        recipes.worth_table,
        (look,),
        options | {"by": name},
        "heads-importance-table",
        partial(numbers_of, look, order),
        title="What each head is worth, in numbers",
        takes=("model",),
        known={"importance": importance},
    )

    def press() -> None:
        row = order.iloc[choice("heads-importance-table")[0]]
        heads.choose(int(row["layer"]), int(row["head"]))

    show(drawing.drawn, "heads-importance-table", chosen=press)
    has_ranges = bool(np.isfinite(importance.table["effect_low"]).any())
    say(HERE, "worth table", point=words(HERE, "worth point") if has_ranges else "")
    return drawing


def draw_pruning(look: Look, corpus: Corpus, importance: Importance) -> list[Picture]:
    """Draw the loss as heads are removed, in the order of either measure and at random."""
    st.markdown("##### Taking heads away")
    left = corpus.result(
        "head pruning",
        (ORDERS + 2) * (POINTS + 1),
        lambda report: prune(look.model, importance, corpus.texts, report=report),
        "Taking heads away",
    )
    if left is None:
        return []
    options = {"kind": look.kind, "texts": corpus.texts and list(corpus.texts), "names": COLUMNS}
    drawing = Picture(
        recipes.pruning,
        (look,),
        options,
        "heads-pruned",
        partial(curves_of, left),
        title="The loss as heads are taken away",
        takes=("model",),
        known={"importance": importance, "left": left},
    )
    show_chart(drawing.drawn, "heads-pruned")
    numbers = count_spare_heads(left)
    say(HERE, "pruned" if corpus.texts is None else "pruned own", **numbers)
    if int(numbers["ours"]) <= int(numbers["high"]):
        say(HERE, "pruned noise", **numbers, tokens=f"{importance.tokens:,}")
    return [drawing]


def count_spare_heads(left: Pruning, within: float = 0.1) -> dict[str, str]:
    """Count the heads that can be removed before the loss rises by a tenth of a nat, in the measured and in the median random
    order.
    """
    ours, by_luck = left.orders["effect"], np.median(left.random, 0)

    def last_below(curve: np.ndarray) -> int:
        return next((i - 1 for i, loss in enumerate(curve) if loss > ours[0] + within), len(ours) - 1)

    first, random = [last_below(each) for each in (ours, by_luck)], [last_below(each) for each in left.random]
    saved = left.saved["effect"][first[0]]
    share = f"{count(int(saved))} ({percent(saved / left.parameters)})" if np.isfinite(saved) else words(HERE, "saved unknown")
    return {
        "ours": str(left.counts[first[0]]),
        "random": str(left.counts[first[1]]),
        "low": str(left.counts[min(random)]),
        "high": str(left.counts[max(random)]),
        "all": str(left.counts[-1]),
        "within": f"{within:g}",
        "saved": share,
        "orders": str(len(left.random)),
        "step": str(step := int(np.diff(left.counts).max())),
        "less": str(step - 1),
    }


def numbers_of(look: Look, table: pd.DataFrame) -> dict[str, Numbers]:
    """Return the measurements, in the order of the rows."""
    axis_names = {"head": recipes.names_of(look.model, look.kind, table)}
    names = {"effect": "rise_of_loss_without_it_nats", "gradient": "by_slope_nats"}
    return {
        title + end: Numbers(table[name + end].to_numpy(np.float32), ("head",), axis_names)
        for name, title in names.items()
        for end in ("", "_low", "_high")
    }


def curves_of(left: Pruning) -> dict[str, Numbers]:
    names = [*(COLUMNS[name] for name in left.orders), *(f"random {i + 1}" for i in range(len(left.random)))]
    rows = np.concatenate([np.stack([*left.orders.values()]), left.random]).astype(np.float32)
    axis_names = {"order": names, "heads off": left.counts.tolist()}
    saved = {f"parameters_saved {COLUMNS[name]}": Numbers(each, ("heads off",), axis_names) for name, each in left.saved.items()}
    return {"loss_nats": Numbers(rows, ("order", "heads off"), axis_names)} | saved
