"""What heads give on average over a reference set of texts: what takes the place of one that is switched off to its mean."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np

from analysis.inside.sample import passages
from analysis.scopes import typed
from models.language_model import LanguageModel

PASSAGES = 12  # of the built-in sample: enough tokens for a mean, and few enough to be read at a press

_kept: WeakKeyDictionary[LanguageModel, dict[tuple[str, object], np.ndarray]] = WeakKeyDictionary()
_lock = threading.Lock()


def head_means(model: LanguageModel, kind: str | None = None, texts: Sequence[str] = ()) -> np.ndarray:
    """What each head gives, before W_O, on average over the tokens of some texts: float32 [layers, heads, d_head].

    texts: the reference set; none: PASSAGES of the built-in sample, read once for a model as long as it stays the same. An
    encoder-decoder reads each as source and as target. kind: of the heads, None for "self" or "decoder". Tokens that nobody typed
    do not count. Errors: ValueError for a kind that is not there, and where what the heads give is not known.
    Source: Wang et al. 2022, "Interpretability in the Wild" (mean ablation over a reference distribution).
    """
    kind = kind or ("decoder" if model.info.kind == "encoder-decoder" else "self")
    key = kind, model.condition
    with _lock:
        known = _kept.setdefault(model, {})
    if not texts and key in known:
        return known[key]
    totals, count = list[np.ndarray](), 0
    for text in texts or passages()[:PASSAGES]:
        trace = model.trace(text, text if model.info.kind == "encoder-decoder" else "", remember=False)
        if kind not in trace.attention:
            raise ValueError(f'{model.info.name} has no "{kind}" attention; it has {", ".join(trace.attention)}.')
        attention = trace.attention[kind]
        places = typed(attention.queries)
        totals.append(np.stack([attention.out(layer)[:, places].sum(1, np.float64) for layer in range(attention.layers)]))
        count += len(places)
    found = (np.sum(totals, axis=0) / count).astype(np.float32)
    if not texts:
        with _lock:
            for old in [one for one in known if one[1] != model.condition]:
                del known[old]
            known[key] = found
    return found
