"""BertViz's head view and model view (Vig 2019, https://arxiv.org/abs/1906.05714) as pages that need no network.

The drawing is BertViz's own JavaScript, read from the installed package. The page that BertViz's Python makes loads libraries
from outside hosts, contains its data twice and breaks on a token such as `</script>`; the page made here contains d3 and jQuery,
has the data once, and escapes all text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np

from viz.modules import without_types
from viz.palette import DARK, LIGHT
from viz.tokens import label

Theme = Literal["auto", "light", "dark"]
Attention = np.ndarray | Mapping[int, np.ndarray]

BUDGET = 20_000_000  # bytes of one page
DRAWN = 600_000  # weights drawn at one time; most are too faint to be made into lines: a few seconds at worst

# BertViz makes a line for every weight, and draws it as opaque as the weight: under half of 1/255 that is not at all.
_VISIBLE_LINE = """function (weight) {
    return weight < 1 / 510 ? null : this.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "line"));
}"""
_LIBRARIES = 370_000  # bytes of d3, jQuery and BertViz's script
_WRITTEN_BYTES = 7  # of one weight at most, with its comma and its share of the brackets
_DIGITS = 4
_WRITTEN = np.array(["0", *(f"{i / 10**_DIGITS:.{_DIGITS}f}".lstrip("0").rstrip("0") for i in range(1, 10**_DIGITS)), "1"])


def bertviz_bytes(layers: int, heads: int, queries: int, keys: int | None = None) -> int:
    """Return an upper estimate of the bytes of a page with so many layers."""
    return _LIBRARIES + layers * heads * queries * (queries if keys is None else keys) * _WRITTEN_BYTES


def layers_that_fit(
    layers: int, heads: int, queries: int, keys: int | None = None, around: int = 0, view: Literal["head", "model"] = "head"
) -> list[int]:
    """Return the consecutive layers around `around` that fit on one page; empty if not even one does.

    Both views are limited to `BUDGET` bytes, and to `DRAWN` weights at a time: in the head view those of one layer, in the model
    view those of all its layers.
    """
    weights = max(1, heads * queries * (queries if keys is None else keys))
    drawn = DRAWN // weights
    fit = (BUDGET - _LIBRARIES) // (weights * _WRITTEN_BYTES)
    count = min(layers, fit, drawn if view == "model" else layers * min(drawn, 1))
    first = max(0, min(around - (count - 1) // 2, layers - count))
    return list(range(first, first + count))


def bertviz_head_view(
    attention: Attention,
    queries: Sequence[Any],
    keys: Sequence[Any] | None = None,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
    theme: Theme = "auto",
    second: int | None = None,
) -> str:
    """Return BertViz's head view as one self-contained HTML page.

    `attention` is an array [layers, heads, query, key], or for some of the layers `{number: array [heads, query, key]}`;
    weights in [0, 1], rounded to four digits. `queries` are on the left, `keys` (by default the same) on the right: tokens
    (anything with a `.text`) or strings. `layer` is shown first, by default the first one; `heads` are switched on at first, by
    default all. `second` is the position at which the second text of a pair begins: then a menu offers the attention within and
    between the two. Raises ValueError where these do not fit together.
    """
    numbers, weights = _layers(attention)
    parts, names = [_data(weights, queries, keys)], []
    if second is not None:
        if keys is not None or not 0 < second < len(queries):
            raise ValueError(
                f"The second of two texts cannot begin at {second}: give one of 1 to {len(queries) - 1}, and no keys."
            )
        a, b = slice(0, second), slice(second, len(queries))
        pairs = {"A -> Sentence A": (a, a), "B -> Sentence B": (b, b), "A -> Sentence B": (a, b), "B -> Sentence A": (b, a)}
        parts += [_data(weights[:, :, q, k], queries[q], queries[k]) for q, k in pairs.values()]
        names = ["All", *(f"Sentence {name}" for name in pairs)]
    settings = _find_opening(numbers, layer, heads, weights.shape[1])
    return _page("head_view", parts, settings, _menu(names) + _HEAD_CONTROLS, theme)


def bertviz_encoder_decoder_view(
    encoder: Attention | None = None,
    decoder: Attention | None = None,
    cross: Attention | None = None,
    encoder_tokens: Sequence[Any] = (),
    decoder_tokens: Sequence[Any] = (),
    first: Literal["encoder", "decoder", "cross"] | None = None,
    cross_rows: Sequence[Any] | None = None,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
    theme: Theme = "auto",
) -> str:
    """Return BertViz's head view of an encoder-decoder as one self-contained HTML page, with a menu of the given attentions.

    Each has the form of `bertviz_head_view`. In cross-attention the decoder's tokens are on the left, or other names of its rows,
    `cross_rows`. `first` is shown first, by default the first given one. The stacks may have different layers, as long as both
    begin with the same one; the menu of layers then has those of the attention on screen, unlike BertViz's own menu. Raises
    ValueError where these do not fit together, or have different heads: BertViz has one row of colours for all.
    """
    rows = cross_rows or decoder_tokens
    sides = {"encoder": (encoder_tokens,) * 2, "decoder": (decoder_tokens,) * 2, "cross": (rows, encoder_tokens)}
    stacks = {
        name: _layers(stack)
        for name, stack in {"encoder": encoder, "decoder": decoder, "cross": cross}.items()
        if stack is not None
    }
    if not stacks:
        raise ValueError("Give the attention of the encoder, of the decoder, or between them.")
    opening: str = first or next(iter(stacks))
    longest = max((numbers for numbers, _ in stacks.values()), key=len)
    counts = {weights.shape[1] for _, weights in stacks.values()}
    if opening not in stacks or len(counts) > 1 or any(numbers != longest[: len(numbers)] for numbers, _ in stacks.values()):
        raise ValueError(
            "BertViz shows attentions together that have as many heads and begin with the same layer, and one of them first: "
            + "; ".join(f"{name} has {weights.shape[1]} heads, layers {numbers}" for name, (numbers, weights) in stacks.items())
        )
    parts = [_data(weights, *sides[name]) for name, (_, weights) in stacks.items()]
    settings = _find_opening(longest, layer, heads, counts.pop(), stacks[opening][0])
    settings["default_filter"] = str(list(stacks).index(opening))
    controls = _menu([name.capitalize() for name in stacks], list(stacks).index(opening)) + _HEAD_CONTROLS
    return _page("head_view", parts, settings, controls, theme, [numbers for numbers, _ in stacks.values()])


def bertviz_model_view(
    attention: Attention, queries: Sequence[Any], keys: Sequence[Any] | None = None, theme: Theme = "auto"
) -> str:
    """Return BertViz's model view, with every head of the given layers as a thumbnail, as one self-contained HTML page.

    Arguments and errors are those of `bertviz_head_view`.
    """
    numbers, weights = _layers(attention)
    count = weights.shape[1]
    settings = {"include_layers": numbers, "display_mode": "light", "include_heads": list(range(count)), "total_heads": count}
    return _page("model_view", [_data(weights, queries, keys)], settings, _MODEL_CONTROLS, theme)


def _find_opening(
    numbers: list[int], layer: int | None, heads: Sequence[int] | None, count: int, among: list[int] | None = None
) -> dict[str, Any]:
    """Return the layer and the heads that a head view shows first. Errors: ValueError for a layer or head that does not exist."""
    among = numbers if among is None else among
    if layer is not None and layer not in among:
        raise ValueError(f"Layer {layer} is not among the layers given: {among}.")
    wrong = [head for head in heads or () if not 0 <= head < count]
    if wrong:
        raise ValueError(f"There is no head {wrong[0]}: heads run from 0 to {count - 1}.")
    return {"include_layers": numbers, "layer": layer, "heads": list(heads) if heads else None}


def _layers(attention: Attention) -> tuple[list[int], np.ndarray]:
    """Return the numbers of the layers, and their weights [layers, heads, query, key]."""
    some = attention if isinstance(attention, Mapping) else dict(enumerate(attention))
    weights = np.stack([np.asarray(layer) for layer in some.values()]) if some else np.zeros(0)
    if weights.ndim != 4 or weights.size == 0:
        raise ValueError(f"Attention of shape {weights.shape} is not [layers, heads, query, key].")
    return [int(number) for number in some], weights


def _data(weights: np.ndarray, queries: Sequence[Any], keys: Sequence[Any] | None) -> str:
    """Return one item of BertViz's `attention`: JavaScript with the weights and the text of the tokens."""
    keys = queries if keys is None else keys
    if weights.shape[2:] != (len(queries), len(keys)):
        raise ValueError(f"Attention of shape {weights.shape} does not fit {len(queries)} queries and {len(keys)} keys.")
    text = {"left_text": [_label(token) for token in queries], "right_text": [_label(token) for token in keys]}
    return f'{{"name":null,"attn":{_weights(weights)},{_script_json(text)[1:]}'


def _weights(attention: np.ndarray) -> str:
    """Return the rounded weights as JSON, from a table of the text of each rounded weight, which is quicker than json."""
    steps = (np.clip(np.nan_to_num(attention), 0, 1) * 10**_DIGITS).round().astype(np.int32)
    written = _WRITTEN[steps]
    rows = ["[" + ",".join(row) + "]" for row in written.reshape(-1, written.shape[-1]).tolist()]
    for length in (written.shape[2], written.shape[1], written.shape[0]):
        rows = ["[" + ",".join(rows[i : i + length]) + "]" for i in range(0, len(rows), length)]
    return rows[0]


def _label(token: Any) -> str:
    return label(token if isinstance(token, str) else token.text)


def _script_json(value: Any) -> str:
    """Return JSON that cannot end its script element: ASCII only, and no `<`."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _page(
    view: str, attentions: list[str], start: dict[str, Any], controls: str, theme: Theme, layers_of: list[list[int]] | None = None
) -> str:
    """Return the page. layers_of: the layers of each of several attentions."""
    settings = {"default_filter": "0", "root_div_id": "bertviz", **start}
    parameters = f'{{"attention":[{",".join(attentions)}],{_script_json(settings)[1:]}'
    before, after = _script(view)
    parts = {"libraries": libraries(), "before": before, "parameters": parameters, "after": after}
    parts["menus"] = f"const layersOf = {_script_json(layers_of)};\n{_menus()}" if layers_of else ""
    return _PAGE.format(title=view.replace("_", " "), view=view, css=_css(theme), controls=controls, **parts)


@cache
def _menus() -> str:
    """The script that keeps the menu of layers to those of the chosen attention, which are its `layersOf`."""
    return without_types(Path(__file__).with_suffix(".js").read_text("utf-8"))


def _menu(names: list[str], chosen: int = 0) -> str:
    """Return the menu of several attentions; "" for one. BertViz finds it by its id, and the attentions by their numbers."""
    options = "".join(
        f'<option value="{i}"{" selected" if i == chosen else ""}>{escape(name)}</option>' for i, name in enumerate(names)
    )
    return f'<label>Attention <select id="filter">{options}</select></label> ' if len(names) > 1 else ""


@cache
def _script(view: str) -> tuple[str, str]:
    """Return BertViz's JavaScript before its data, and after it."""
    text = (_package("bertviz") / f"{view}.js").read_text(encoding="utf-8")
    text = re.sub(r"require\.config\(\{.*?\}\);", "", text, count=1, flags=re.DOTALL)  # where the outside hosts stand
    text = re.sub(r"//[^\n]*PYTHON_PARAMS[^\n]*", "", text)  # a comment that would hold the data a second time
    text = text.replace('.append("line")', f".select({_VISIBLE_LINE})")
    before, after = text.split("PYTHON_PARAMS")
    return before, after


@cache
def libraries() -> str:
    """Return d3 5 and jQuery 3, and the two names by which BertViz requires them."""
    files = _package("mpld3") / "js" / "d3.v5.min.js", _package("xstatic.pkg.jquery") / "data" / "jquery.min.js"
    shim = "window.require = window.requirejs = (names, use) => use(window.jQuery, window.d3);"
    return "\n;".join([*(file.read_text(encoding="utf-8") for file in files), shim])


def _package(name: str) -> Path:
    """Return the folder of an installed package without importing it (bertviz would import torch)."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"BertViz’s view needs the package {name}: pip install -r requirements.txt")
    return Path(spec.origin).parent


def _css(theme: Theme) -> str:
    def colours(palette: dict[str, str], scheme: str) -> str:
        return ":root{" + "".join(f"--{name}:{value};" for name, value in palette.items()) + f"color-scheme:{scheme}}}"

    if theme == "light":
        return colours(LIGHT, "light")
    if theme == "dark":
        return colours(DARK, "dark")
    return f"{colours(LIGHT, 'light')}@media(prefers-color-scheme:dark){{{colours(DARK, 'dark')}}}"


_HEAD_CONTROLS = """<label>Layer <select id="layer"></select></label><p><span>from (query)</span><span>to (key)</span></p>"""
_MODEL_CONTROLS = "<p>In each picture: from (query) on the left, to (key) on the right. Press one to enlarge it.</p>"

# BertViz sets its colours as attributes, which these rules outdo; ids and names in the markup are those its script looks for.
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>BertViz: {title}</title>
<style>
{css}
body {{ margin: 0; padding: 4px 2px; background: var(--paper); color: var(--ink); }}
body {{ font: 15px/1.5 "Source Sans 3", system-ui, sans-serif; }}
p {{ margin: 6px 0 2px; color: var(--soft); font-size: 13px; }}
.head_view p {{ display: grid; grid-template-columns: 103px 1fr; column-gap: 129px; }}
.head_view p :first-child {{ text-align: right; }}
select {{ font: inherit; color: inherit; background: var(--chip); border: 1px solid var(--line); border-radius: 8px; }}
#vis {{ overflow-x: auto; }}
svg text {{ fill: var(--ink); white-space: pre; }}
svg, svg .background, svg [fill="lightgray"] {{ fill: var(--chip); }}
.model_view svg, .model_view svg [fill="white"] {{ fill: var(--card); }}
.model_view svg [fill="#F5F5F5"] {{ fill: var(--chip); }}
.model_view svg .highlight {{ fill: var(--soft); }}
</style></head>
<body class="{view}"><div id="bertviz">{controls}<div id="vis"></div></div>
<script>{libraries}</script>
<script>{before}{parameters}{after}</script>
<script>{menus}</script>
</body></html>
"""
