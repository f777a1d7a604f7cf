"""A view that is fetched shows the newest data, in whatever order Streamlit calls it, and draws nothing once it has gone."""

from __future__ import annotations

import json

import pytest

from tests.node import printed
from ui.serving.assets import loader

FETCH = 'import(new URL("'


def drawn(story: str) -> list[str]:
    """What is drawn, in order. story: JavaScript with `call(data)`, which gives what ends the call, `arrive()` and `parent`."""
    fetched, script = "const fetched = new Promise((resolve) => (globalThis.arrive = resolve));", loader("grid_view", ())
    start, end = script.index(FETCH), script.index(".href);") + len(".href)")
    body = script[:start] + "fetched" + script[end:]
    return json.loads(
        printed(
            f"""{fetched}
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
