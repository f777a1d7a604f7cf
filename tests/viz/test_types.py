"""What the Python of each view sends is what its `types.d.ts` declares, which TypeScript checks the JavaScript against."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.node import needs_typescript, type_errors
from tests.serving import ROOT
from viz.view import View, kinds
from viz.views.architecture import Box, architecture
from viz.views.board import Card, Part, board
from viz.views.change_list import change_list
from viz.views.compare_view import compare_view
from viz.views.dials import Dial, dials
from viz.views.export import export_view
from viz.views.file_picker import file_picker
from viz.views.grid_view import grid_view
from viz.views.head_view import head_view
from viz.views.model_view import model_view
from viz.views.order_view import order_view
from viz.views.overview import overview
from viz.views.patch_view import patch_view
from viz.views.picture_choice import picture_choice
from viz.views.pieces_view import Box as Letters
from viz.views.pieces_view import Row, pieces_view
from viz.views.prediction_bars import prediction_bars, value_bars
from viz.views.query_key_view import query_key_view
from viz.views.reading_view import reading_view
from viz.views.room import room
from viz.views.space_view import space_view
from viz.views.stations_view import Gaze, Lane, Outcome, stations_view
from viz.views.sum_view import Product, sum_view
from viz.views.time_slider import time_slider
from viz.views.token_chips import token_chips
from viz.views.versions import versions
from viz.views.way_view import Stop, way_view

VIEWS = ROOT / "viz" / "views"
EMPTY = {"uint8": "new Uint8Array()", "int32": "new Int32Array()"} | dict.fromkeys(("float16", "float32"), "new Float32Array()")
ARRAYS = {"uint8": "PackedBytes", "int32": "PackedInts", "float16": "PackedFloats", "float32": "PackedFloats"}

TOKENS = [SimpleNamespace(id=i, text=text, special=not i, fragment=False) for i, text in enumerate(["<s>", " The", " cat"])]
PAIR = [SimpleNamespace(**vars(token), segment=int(i > 1)) for i, token in enumerate(TOKENS)]
ROWS = [SimpleNamespace(**vars(token), after=TOKENS[0]) for token in TOKENS]
EVEN = np.full((2, 3, 3), 1 / 3, np.float32)
CAUSAL = np.tril(EVEN)
BROKEN = np.where(np.eye(3) > 0, np.nan, EVEN)
ONE = np.linspace(0, 1, 3)
LINE = Stop("a", "A", "gist", "[2]", ONE - 0.5, "group")
GAZE = Gaze({0: EVEN}, {0: np.ones((2, 3, 4))}, 0, 1)
PATCHES = [
    SimpleNamespace(text="[CLS]", special=True),
    *(SimpleNamespace(text="", special=False, row=0, column=i, box=(i, 0, i + 1, 1), covered=bool(i)) for i in range(2)),
]
PIXELS = np.zeros((1, 2, 3), np.uint8)
LANE = Lane([TOKENS[0], None, " cat"], [0, 1, 9], np.ones((2, 3, 4)), GAZE, [0], "Encoder", 7)

# Of each kind of view: the plainest, and those with all that it can have.
EXAMPLES: dict[str, list[View]] = {
    "architecture": [architecture([("Encoder", [Box("Block", "[2]", "adds", (Box("Norm", beside="Decoder", added=True),), 2)])])],
    "board": [board([Card([Part("a", versions(["v"], [["x"]]), "above", "below", late=True), Part("b", None)], "Title", 2)])],
    "change_list": [change_list([]), change_list(["L0 H1 off"], back=True, more="and more")],
    "compare_view": [
        compare_view(TOKENS, ["one", "two"], np.zeros((1, 2, 3))),
        compare_view(TOKENS, ["one"], np.array([[ONE]]), chosen=1),
    ],
    "dials": [dials([]), dials([Dial("Temperature", 1, 0, 2)])],
    "export": [export_view("key", "name", "Title", "caption", "provenance", "part")],
    "grid_view": [
        grid_view(np.array([[1.0, np.nan]]), ["a"], ["b", "c"]),
        grid_view(
            np.ones((2, 1, 2)),
            ["a"],
            ["b", "c"],
            frames=["x", "y"],
            texts=[["t", "u"]],
            notes=[["n", "m"]],
            row_notes=["r"],
            chosen=(0, 1),
            covered=np.array([[True, False]]),
            ends=("low", "high"),
            down="d",
            across="a",
            unit="%",
            numbered=True,
        ),
    ],
    "head_view": [
        head_view(TOKENS, TOKENS, CAUSAL),
        head_view(PAIR, TOKENS[:2], BROKEN[:, :, :2], layer=1, heads=[0], chosen=("to", 1), starts=(4, 5), cuts=[(0, 1, 1)]),
        head_view(ROWS, TOKENS, EVEN, simple=True, link="link"),
    ],
    "model_view": [
        model_view([CAUSAL]),
        model_view([EVEN], chosen=(0, 1), notes=[["a", "b"]], values=np.array([["x", "y"]]), order=[1, 0], faint=np.ones((1, 2))),
        model_view([EVEN], values=np.array([[0.5, np.nan]]), unit="nats"),
    ],
    "patch_view": [
        patch_view(PIXELS, PATCHES),
        patch_view(PIXELS, PATCHES, EVEN[0], 1, link="patches", writes="digit 3"),
        patch_view(PIXELS, PATCHES, values=np.array([np.nan, 1, -1]), unit="nats", small=True),
    ],
    "picture_choice": [
        picture_choice({"digit 3": PIXELS}, draws=False),
        picture_choice({"digit 3": PIXELS}, "digit 3", np.zeros((8, 8), np.uint8)),
    ],
    "order_view": [order_view(["The", "cat"], [1, 0], [1])],
    "overview": [
        overview(TOKENS, TOKENS[:2], EVEN[0][:, :2], ((0, 1), (0, 1))),
        overview(TOKENS, TOKENS, EVEN[0], ((0, 1), (0, 2))),
    ],
    "pieces_view": [
        pieces_view(3, [Row([Letters("cat", 0, 3, "new", note="word", step=1)], 0, "begin")], ["a", "b"], ["A.", "B."])
    ],
    "prediction_bars": [
        prediction_bars([], []),
        prediction_bars([" a"], [0.9], before=[0.5], stages=("model’s own", "to choose from")),
        prediction_bars(
            [" a", " b"], [0.9, 0.1], [1, 2], [2.0, -1.0], before=[0.5, 0.5], struck=[False, True], marked=0, what="Label", full=1
        ),
        value_bars(["a", "b"], [1.0, -1.0], ("token", "value"), marked=1, still=True),
    ],
    "query_key_view": [
        query_key_view(TOKENS[1], TOKENS, ONE[:2], np.zeros((3, 2)), ONE, 0.5, ONE, ONE),
        query_key_view(
            ROWS[1],
            TOKENS,
            ONE[:2],
            np.zeros((3, 2)),
            ONE,
            0.5,
            ONE,
            ONE,
            position=1,
            mask=np.array([0, 0, -np.inf]),
            v_norm=ONE,
            bias=ONE,
            unturned=ONE,
            frequencies=ONE[:1],
            pairs=[[0, 1]],
            softcap=50,
            temperature=2,
            sink=0.5,
        ),
    ],
    "reading_view": [
        reading_view(TOKENS, CAUSAL[0]),
        reading_view(ROWS, BROKEN, toggle=True, second=1, own_from=2, causal=False, direction="to"),
        reading_view(TOKENS, None, quantity=[1.0, -2.0, np.nan], unit="nats"),
        reading_view(TOKENS, None, quantity=[1.0, 2.0, 0.5], unit="%"),
    ],
    "file_picker": [file_picker("Open a file …", ends=".json", largest=1000)],
    "room": [
        room("ABC", who="", role="waits", follows=False, taken=0, said="No such room."),
        room("ABC", who="w", role="leads", follows=True, taken=2, large=True, ticket="t", key="k", refused="", elsewhere=False),
    ],
    "space_view": [
        space_view(TOKENS, np.zeros((2, 3, 2))),
        space_view(TOKENS, np.ones((1, 3, 3)), values=["a", "b", ""], axes=["x", "y", "z"], notes=["n"] * 3, chosen=1, name="s"),
        space_view(TOKENS, np.ones((1, 3, 3)), values=ONE, unit="nats", near=np.zeros((1, 3, 1), int), near_by="cosine"),
    ],
    "stations_view": [
        stations_view([LANE], 2, [], []),
        stations_view([LANE, LANE], 2, [Outcome("a", 0.5)] * 2, [Outcome("a", 0.5, id=1)], bridge=GAZE, others="others"),
    ],
    "sum_view": [
        sum_view("x", 2.0, []),
        sum_view("x", 3.0, [Product("a", 2.0, 1.0, 2.0, (True, False))], (4, 1.0), left="q", right="k", trail=["y"]),
    ],
    "time_slider": [time_slider(["0", "1"], 1, 0)],
    "token_chips": [
        token_chips([], ids=False),
        token_chips(TOKENS, 1, positions=True, surprise=[None, 1, 2], notes=["a", "b", "c"]),
    ],
    "versions": [versions(["first"], [["The ", "cat"]])],
    "way_view": [way_view([], strip=True), way_view([LINE], "a", explained=[LINE])],
}


def sent(view: View) -> dict:
    """The header of a view, as its JavaScript reads it."""
    length = struct.unpack_from("<I", view.data)[0]
    return json.loads(view.data[4 : 4 + length])


def declared(kind: str) -> tuple[dict[str, bool], dict[str, tuple[str, bool]]]:
    """Whether each key of a header is optional, and the type of each array and whether that is; "*" is any other array."""
    text = re.sub(r"//.*", "", (VIEWS / kind / "types.d.ts").read_text("utf-8"))
    body = re.search(r"^export interface Header \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL)[1]
    keys = {name: bool(optional) for name, optional in re.findall(r"^  (\w+)(\??):", body, re.MULTILINE)}
    if alike := re.search(r"^  arrays: Record<string, (\w+)>;", body, re.MULTILINE):
        return keys, {"*": (alike[1], True)}
    arrays = re.search(r"^  arrays: \{(.*?)\};", body, re.MULTILINE | re.DOTALL)[1]
    return keys, {name: (type_, bool(optional)) for name, optional, type_ in re.findall(r"(\w+)(\??): (\w+);?", arrays)}


def test_each_kind_of_view_has_examples():
    assert EXAMPLES.keys() == kinds() and all(view.kind == kind for kind, views in EXAMPLES.items() for view in views)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_what_is_sent_has_the_declared_keys(kind):
    keys, arrays = declared(kind)
    headers = [sent(view) for view in EXAMPLES[kind]]
    for header in headers:
        assert {name for name, optional in keys.items() if not optional} <= header.keys() <= keys.keys()
        types = {name: ARRAYS[entry["dtype"]] for name, entry in header["arrays"].items()}
        assert all(type_ == arrays.get(name, arrays.get("*", ("none",)))[0] for name, type_ in types.items())
        assert {name for name, (_, optional) in arrays.items() if not optional} <= types.keys()
    assert keys.keys() == set().union(*headers), "Nothing of this is ever sent: drop it, or add an example"
    assert "*" in arrays or arrays.keys() == set().union(*(header["arrays"] for header in headers))


@needs_typescript
def test_what_is_sent_has_the_declared_types(tmp_path: Path):
    lines = []
    for kind, views in EXAMPLES.items():
        lines.append(f"import type {{ Header as {kind}_ }} from {json.dumps(str(VIEWS / kind / 'types'))};")
        for i, view in enumerate(views):
            header = sent(view)
            arrays = [
                f"{json.dumps(name)}: {{ shape: [], data: {EMPTY[entry['dtype']]} }}"
                for name, entry in header.pop("arrays").items()
            ]
            lines.append(f"export const {kind}_{i}: {kind}_ = {json.dumps(header)[:-1]}, arrays: {{ {', '.join(arrays)} }} }};")
    (tmp_path / "sent.ts").write_text("\n".join(lines), "utf-8")
    assert type_errors(tmp_path, "sent.ts") == ""
