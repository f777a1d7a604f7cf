"""The modules of the views: joined into one script they are what they are apart, and what cannot be joined is refused."""

from __future__ import annotations

import re

import pytest

from tests.node import printed
from viz import modules
from viz.view import View, kinds


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch):
    """`written({path: text})`: these modules instead of ours."""
    return lambda sources: monkeypatch.setattr(modules, "sources", lambda: sources)


def test_a_module_comes_after_what_it_imports_and_once(written):
    written(
        {
            "a.js": 'import { b } from "./x/b.js";\nimport { c } from "./c.js";\n',
            "x/b.js": 'import { c } from "../c.js";\n',
            "c.js": "",
        }
    )
    assert modules.needed(["a.js", "c.js"]) == ("c.js", "x/b.js", "a.js")


def test_joined_modules_see_what_they_import_and_nothing_else(written):
    text = """import { twice as double, Box } from "./b.js";
const own = 3;
export const answer = double(own) + new Box().size;
export async function later() {
  return answer;
}
"""
    inner = "const own = 2;\nexport function twice(x) {\n  return own * x;\n}\nexport class Box {\n  size = own;\n}\n"
    written({"a.js": text, "b.js": inner})
    script = f"{modules.joined(['a.js'])}\nconsole.log(modules['a.js'].answer, await modules['a.js'].later(), typeof own);"
    assert printed(script).split() == ["8", "8", "undefined"]


def test_every_view_exports_the_same_joined_and_apart():
    paths = [View(kind, b"", "").assets().module for kind in sorted(kinds())]
    apart = "".join(f'import * as m{i} from "./{path}";\nsay(m{i});\n' for i, path in enumerate(paths))
    together = "".join(f'say(modules["{path}"]);\n' for path in paths)
    say = "function say(one) { console.log(...Object.keys(one).sort()); }\n"
    lines = printed(say + apart).splitlines()
    assert printed(f"{modules.joined(paths)}\n{say}{together}").splitlines() == lines
    assert len(lines) == len(paths) and all("mount" in line.split() for line in lines)


def test_types_are_not_sent_to_a_browser(written):
    types = '/** @typedef {import("./types").Size} Size */\n\n'
    function = "/**\n * @param {Size} size\n */\nexport function twice(size) {\n  return 2 * /** @type {number} */ (size);\n}\n"
    written({"a.js": f"{types}{function}"})
    script = modules.joined(["a.js"])
    assert "typedef" not in script and "@param" not in script
    assert printed(f"{script}\nconsole.log(modules['a.js'].twice(2));").split() == ["4"]


@pytest.mark.parametrize(
    ("sources", "words"),
    [
        ({"a.js": 'import { b } from "./b.js";', "b.js": 'import { a } from "./a.js";'}, "in a circle: a.js → b.js → a.js"),
        ({"a.js": 'import { b } from "./b.js";'}, r"a\.js needs the module b\.js"),
        ({"a.js": "export default () => 1;"}, "another way: export default"),
        ({"a.js": "export let changing = 1;"}, "another way: export let"),
        ({"a.js": 'import * as b from "./b.js";', "b.js": ""}, "another way: import"),
        ({"a.js": "const end = '</SCRIPT>';"}, "would end a script"),
    ],
)
def test_what_cannot_be_joined_is_refused_in_a_sentence(written, sources, words):
    written(sources)
    with pytest.raises(ValueError, match=words):
        modules.joined(["a.js"])


def test_a_page_holds_only_the_modules_that_it_needs():
    held = re.findall(r'^modules\["([^"]+)"\] = ', View("time_slider", b"", "").to_html(), re.MULTILINE)
    assert set(held) == set(modules.needed(["views/time_slider/view.js", "page.js"])) and "shared/colours.js" not in held
