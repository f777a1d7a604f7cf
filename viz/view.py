"""The base of all views: a kind, its data as bytes, and a description for screen readers."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from dataclasses import dataclass, field
from functools import cache, lru_cache
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from viz import modules
from viz.palette import standalone_css

_HERE = Path(__file__).parent
_VIEWS = _HERE / "views"
_LARGE = 2**16  # bytes of data from which on a page holds them compressed
_DTYPES = ("uint8", "float16", "float32", "int32")


@dataclass(frozen=True)
class Assets:
    """The part that is the same for every view of a kind; it never depends on the data."""

    html: str
    css: str
    module: str  # its path, see `modules`; exports mount({parentElement, data, setTriggerValue, setStateValue, key}, mounts)
    inside: dict[str, str]  # the kinds of the views inside it, whose mount functions are `mounts`, and their modules


@dataclass(frozen=True)
class View:
    """A picture, ready to be drawn by the JavaScript in `viz/views/<kind>/`."""

    kind: str
    data: bytes = field(repr=False)  # see `pack`
    label: str  # what a screen reader says of it
    uses: tuple[str, ...] = ()  # the kinds of the views inside it

    def assets(self) -> Assets:
        """Return the HTML, the CSS and the modules of this kind of view (read once)."""
        return _assets(self.kind, self.uses)

    def to_html(self, caption: str = "") -> str:
        """Return a self-contained page: no request leaves it, and all text of the user is inside base64 or escaped.

        `caption` stands below the picture.
        A click that the app would receive is sent as a `headlight` event of the window, detail `{name, value}`;
        `window.headlight.draw(bytes)` draws other data of the same kind. The data of a long text is compressed, and
        `window.headlight.ready` is a promise that resolves when it is drawn.
        """
        assets, compressed = self.assets(), len(self.data) > _LARGE
        return _PAGE.format(
            title=escape(self.label),
            css=standalone_css() + assets.css,
            html=assets.html,
            caption=f'<p class="caption">{escape(caption)}</p>' if caption else "",
            js=modules.joined([_PAGE_MODULE, assets.module, *assets.inside.values()]),
            mount=mount_in(assets.module),
            mounts=", ".join(f"{kind}: {mount_in(path)}" for kind, path in assets.inside.items()),
            page=_PAGE_MODULE,
            data=base64.b64encode(zlib.compress(self.data, 1) if compressed else self.data).decode("ascii"),
            compressed=json.dumps(compressed),
        )

    def _repr_html_(self) -> str:
        """Return the page in a frame for a notebook, which takes the height that it needs."""
        frame = "width:100%;height:320px;border:0;color-scheme:light dark"
        return f'<iframe title="{escape(self.label)}" srcdoc="{escape(self.to_html())}" style="{frame}"></iframe>'


def pack(header: dict[str, Any], **arrays: np.ndarray) -> bytes:
    """Pack a header and arrays into one block of bytes, which `unpack` in shared/bytes.js reads.

    Layout: uint32 little-endian, the length of the JSON; the JSON in UTF-8, which is the header and
    `arrays: {name: {dtype, shape, offset}}`; zeros up to a multiple of 8; then the raw little-endian buffers, each on a
    multiple of 8, at `offset` counted from the first of them. Raises ValueError for a dtype other than uint8, float16,
    float32, int32.
    """
    offset, directory, parts = 0, {}, []
    for name, array in arrays.items():
        if array.dtype.name not in _DTYPES:
            raise ValueError(f"{name} is {array.dtype.name}; a view sends one of {', '.join(_DTYPES)}.")
        raw = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        directory[name] = {"dtype": array.dtype.name, "shape": array.shape, "offset": offset}
        parts += [raw, bytes(-len(raw) % 8)]
        offset += len(raw) + -len(raw) % 8
    written = json.dumps({**header, "arrays": directory}, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    text = written.encode("utf-8", "backslashreplace")  # a lone surrogate becomes what JSON writes for it
    return b"".join([struct.pack("<I", len(text)), text, bytes(-(4 + len(text)) % 8), *parts])


@cache
def kinds() -> frozenset[str]:
    """Return all kinds of views: the folders in `views` with JavaScript."""
    return frozenset(path.parent.name for path in _VIEWS.glob("*/view.js"))


@lru_cache(128)
def _assets(kind: str, uses: tuple[str, ...] = ()) -> Assets:
    styles = (_HERE / "shared" / "view.css", *(_VIEWS / name / "view.css" for name in (*uses, kind)))
    return Assets(
        # Named by what is inside it: Streamlit keeps the node, and what was drawn in it, of a component whose HTML is the same.
        html=f'<div class="hl hl-{kind.replace("_", "-")}" data-uses="{" ".join(uses)}"></div>',
        css="".join(style.read_text("utf-8") for style in styles),
        module=_module(kind),
        inside={name: _module(name) for name in uses},
    )


def _module(kind: str) -> str:
    return f"views/{kind}/view.js"


def mount_in(path: str) -> str:
    """Return the expression for a module's mount function in a joined script."""
    return f"modules[{json.dumps(path)}].mount"


_PAGE_MODULE = "page.js"
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>body{{margin:0;padding:12px;background:var(--own-paper)}}
.caption{{margin:16px 0 0;max-width:80ch;font:14px/1.5 system-ui,sans-serif;color:var(--own-soft);overflow-wrap:anywhere}}
{css}</style>
</head>
<body>
<main id="view">{html}</main>
{caption}
<script>
(() => {{
"use strict";
{js}
const text = "{data}";
const compressed = {compressed};
modules["{page}"].openPage({mount}, {{ {mounts} }}, text, compressed);
}})();
</script>
</body>
</html>
"""
