"""A view that is fetched shows the newest data, in whatever order Streamlit calls it, and draws nothing once it has gone.

All scripts but the shortest are files, whose types `make lint` checks.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.node import printed
from tests.serving import ROOT
from ui.serving.assets import loader

FETCH = 'import(new URL("'
SCRIPT = re.compile(r"=>|\bfunction\b|\b(?:const|let) \w+ =")
SHORT = 5  # lines of a script that may stand in Python


def drawn(story: str) -> list[str]:
    """What is drawn, in order. story: JavaScript with `call(data)`, which gives what ends the call, `arrive()` and `parent`."""
    fetched, script = "const fetched = new Promise((resolve) => (globalThis.arrive = resolve));", loader("grid_view", ())
    start, end = script.index(FETCH), script.index(".href);") + len(".href)")
    body = script[:start] + "fetched" + script[end:]
    return json.loads(
        printed(
            f"""globalThis.window = globalThis;
{fetched}
{body.replace("export default", "const view_of =")}
const drawn = [];
const parent = {{ isConnected: true, querySelector: () => ({{ firstElementChild: {{}} }}) }};
const call = (data) => view_of({{ parentElement: parent, data }});
const arrive = () => globalThis.arrive({{ default: ({{ data }}) => drawn.push(data) }});
const rest = () => new Promise((resolve) => setTimeout(resolve));
{story}
await rest();
console.log(JSON.stringify(drawn));"""
        )
    )


@pytest.mark.parametrize(
    ("story", "expected"),
    [
        ('arrive(); call("old"); await rest(); call("new");', ["old", "new"]),
        ('call("old"); call("new"); arrive();', ["old", "new"]),
        ('arrive(); call("new"); await rest(); const end = call("old"); await rest(); end();', ["new", "old", "new"]),
        ('call("new"); const end = call("old"); end(); arrive();', ["new"]),
        ('arrive(); call("new"); const end = call("old"); end();', ["new"]),
        ('arrive(); call("old"); const end = call("new"); await rest(); parent.isConnected = false; end();', ["old", "new"]),
        ('const end = call("old"); parent.isConnected = false; end(); arrive();', []),
    ],
)
def test_the_newest_data_stand_last(story, expected):
    assert drawn(story) == expected


def strings(file: Path) -> Iterator[str]:
    """Yield the strings of a Python file that are no docstrings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def test_scripts_are_files_whose_types_are_checked():
    """A page of HTML may have a script that calls what such files export."""
    files = [file for folder in ("bin", "pages", "ui", "viz") for file in sorted((ROOT / folder).rglob("*.py"))]
    scripts = [(file.name, text) for file in files for text in strings(file) if SCRIPT.search(text) and "<html" not in text]
    assert not [name for name, text in scripts if len(text.splitlines()) > SHORT]
    _, settings = (ROOT / "tsconfig.json").read_text(encoding="utf-8").split("\n", 1)  # after a comment
    assert {"bin", "ui", "viz"} == set(json.loads(settings)["include"])
