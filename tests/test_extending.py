"""What docs/extending.md says holds: its view, analysis and page work in a copy of the program."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.node import needs_typescript, type_errors
from tests.serving import ROOT

BLOCK = re.compile(r"^`([\w/.]+\.\w+)`\n\n```\w+\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
PLACES = '"type": ("Type", ":material/keyboard:"),\n'  # the first line of the navigation


@pytest.fixture(scope="module")
def extended(tmp_path_factory) -> Path:
    """The program with all that the document adds to it."""
    copy = tmp_path_factory.mktemp("extended")
    for folder in ("analysis", "ui", "viz", "pages", "tests", ".streamlit", "assets"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "models").symlink_to(ROOT / "models")
    for name, code in BLOCK.findall((ROOT / "docs" / "extending.md").read_text("utf-8")):
        file = copy / name
        if file.exists():
            text = file.read_text("utf-8")
            assert text.count(PLACES) == 1
            file.write_text(text.replace(PLACES, PLACES + code), "utf-8")
        else:
            file.parent.mkdir(exist_ok=True)
            file.write_text(code, "utf-8")
    return copy


def run(folder: Path, code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.thorough
def test_the_analysis_counts_the_keys_that_a_share_takes(extended):
    output = run(
        extended,
        "import numpy as np, models\nfrom analysis.breadth import breadth\n"
        "tokens = models.load('writer').tokenize('one two three four five six seven eight nine ten')[:10]\n"
        "even = models.Attention.from_arrays(np.full((1, 1, 10, 10), 0.1, np.float32), tokens, tokens)\n"
        "print(*breadth(even)[0, 0], *breadth(even, 1.0)[0, 0])",
    )
    assert output.split() == ["9"] * 10 + ["10"] * 10


@pytest.mark.thorough
def test_the_page_opens_at_each_level_and_shows_its_view(extended):
    output = run(
        extended,
        "from tests.pages.opening import open_link, words_on\n"
        "for level in ('beginner', 'intermediate', 'expert'):\n"
        "    app = open_link('breadth', f'level={level}&text=The+cat+sat')\n"
        "    assert '# Breadth' in words_on(app) and [part for part in app.get('bidi_component')]\n"
        "    print(level)",
    )
    assert output.split() == ["beginner", "intermediate", "expert"]


@needs_typescript
def test_the_view_has_the_types_that_it_declares(extended):
    assert (extended / "viz/views/strip/types.d.ts").exists() and type_errors(extended, "viz/views/strip") == ""
    script = extended / "viz/views/strip/wrong.js"
    script.write_text('import { mount } from "./view.js";\nmount(1);\n', "utf-8")
    assert "wrong.js" in type_errors(extended, "viz/views/strip")
    script.unlink()


def test_the_view_draws_and_tells_of_a_press(extended, new_page):
    run(
        extended,
        "import numpy as np\nfrom pathlib import Path\nfrom viz.views.strip import strip\n"
        "Path('strip.html').write_text(strip(['The', '<b>cat</b>'], np.array([0.2, 1.0])).to_html())",
    )
    page = new_page()
    page.add_init_script("window.told = []; addEventListener('headlight', ({ detail }) => told.push(detail))")
    page.goto((extended / "strip.html").as_uri())
    page.get_by_role("button", name="<b>cat</b>: 1.00").click()
    assert page.evaluate("told") == [{"name": "chosen", "value": 1}]
    colours = page.locator(".square").evaluate_all("all => all.map((one) => getComputedStyle(one).backgroundColor)")
    assert len(set(colours)) == 2  # a larger value has a stronger colour
