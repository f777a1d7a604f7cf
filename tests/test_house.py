"""Rules of the house that import-linter and ruff cannot express.

Each test looks at every file that its rule is about, and its failure lists the offenders: the file, the line and the offence.
"""

from __future__ import annotations

import ast
import importlib
import logging
import pkgutil
import re
import subprocess
import sys
import tomllib
from base64 import b64decode
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.serving import ROOT
from ui import document

FOLDERS = ("pages", "ui", "viz", "analysis", "models")
LONGEST = 60  # lines of code in a function, without its docstring and comments
LONGER: dict[str, str] = {}  # "file:function" for each function that may be longer, with the reason

# What a browser would fetch from another host. A room may have no network.
ASSET = re.compile(
    r"""https?://[^\s"'()<>]+\.(?:m?js|css|woff2?|ttf|png|jpe?g|gif|svg|wasm)\b|url\(\s*["']?(?:https?:)?//|@import|fonts\.g"""
    r"""|(?:src|srcset)\s*=\s*["'](?:https?:)?//"""
)
OLD_WORDS = re.compile(
    r"on the mean|reckon|\banew\b|foresee|by chance|go(?:es)? on with|\bupon\b|\b(?:there|where)of\b|leave-one-out aside"
)
SYMBOLS = re.compile(r"[Σ‖√∂λθ∈∞²ᵀ₂]|[A-Za-z]\[|softmax|logit|\b(?:nats|bits|bytes?)\b|Norm\b|d_model|float\d|tensor|et al\.")
STRAIGHT_APOSTROPHE = re.compile(r"[^\W_]'(?:s|t|re|ve|ll|d|m)\b|[a-z]s'(?=[ ,.;:)])")
TYPED_BY_PEOPLE = ("I don't want", "don't you")  # texts for a model, with the apostrophe of a keyboard
CODE_OR_TEXT = re.compile(r"^ *(`{3,})(?!yaml).*?^ *\1|`[^`\n]+`|^ *(?:text|target):.*$", flags=re.M | re.S)
WIDGETS = {
    *("segmented_control", "selectbox", "toggle", "checkbox", "slider", "select_slider"),
    *("number_input", "text_input", "text_area", "menu_button"),
}
UNIT = re.compile(r" ?(?:[kMGT]i?B|thousand|million|billion|trillion)\b| ?%(?![\w{])")
NUMBERS_TO_WORDS = {  # the files that put numbers into words
    "models/adapting/strength.py",  # in the names of models
    "models/numbers/sizes.py",
    "viz/numbers.py",
    "ui/memory/jobs.py",  # progress, in whole hundredths
    "pages/generate/cache.py",  # operations, the largest numbers of all
}
VAGUE = {"found", "one", "said", "told", "kept", "shown", "made", "met"}  # that say nothing of what they name

PACKAGES = (
    *("analysis", "models", "viz", "viz.views", "pages.attention.views"),
    *(f"models.{file.parent.name}" for file in sorted((ROOT / "models").glob("*/__init__.py"))),
    *("ui", "ui.believe", "ui.choices", "ui.memory", "ui.picture", "ui.serving"),
)


@pytest.fixture(scope="module", autouse=True)
def syntax_trees() -> Iterator[None]:
    """The rules share the syntax trees of all files. After the last rule their memory (128 MB) is free again."""
    yield
    parse.cache_clear()
    nodes.cache_clear()


def reject(offenders: Iterable[str], rule: str) -> None:
    """Fails with the rule and the offenders, one a line."""
    if lines := list(dict.fromkeys(offenders)):
        pytest.fail("\n  ".join([f"{rule} ({len(lines)}):", *lines]), pytrace=False)


@cache
def files(*folders: str, suffix: str) -> tuple[Path, ...]:
    """All files with this suffix in these folders. A folder without any is an error: its rule would hold for nothing."""
    paths = {folder: sorted((ROOT / folder).rglob(f"*{suffix}")) for folder in folders}
    assert all(paths.values()), f"no {suffix} in {[folder for folder, inside in paths.items() if not inside]}"
    return tuple(path for inside in paths.values() for path in inside)


@cache
def read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


@cache
def parse(file: Path) -> ast.Module:
    return ast.parse(read(file))


@cache
def nodes(file: Path) -> tuple[ast.AST, ...]:
    """Every node of a Python file, outer ones first."""
    return tuple(ast.walk(parse(file)))


def name_of(file: Path) -> str:
    """A file's path from the root of the project, as the offenders are listed."""
    return file.relative_to(ROOT).as_posix()


def matches(file: Path, pattern: re.Pattern[str], ignored: re.Pattern[str] | None = None) -> list[str]:
    """Each match in a file, outside what is ignored, with its line and the words around it."""
    text = read(file)
    if ignored:
        text = ignored.sub(lambda part: "\n" * part[0].count("\n"), text)
    lines = [(text.count("\n", 0, match.start()) + 1, match) for match in pattern.finditer(text)]
    return [f"{name_of(file)}:{line}: {around(text, match)}" for line, match in lines]


def around(text: str, match: re.Match[str]) -> str:
    """A match, with up to 20 characters on both sides."""
    return repr(text[max(0, match.start() - 20) : match.end() + 20])


@cache
def words() -> tuple[Path, ...]:
    """The words of the pages and of what they share."""
    return files("pages", "ui", suffix=".md")


@cache
def python() -> tuple[Path, ...]:
    """Our Python files, the app's and its tools', without the tests."""
    return files(*FOLDERS, "benchmarks", "bin", suffix=".py")


@cache
def module_files() -> dict[str, Path]:
    """Each module of ours by its full name."""
    return {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
        for file in files(*FOLDERS, suffix=".py")
    }


def imported(tree: Iterable[ast.AST]) -> set[str]:
    """The modules of ours that these nodes import."""
    names: set[str] = set()
    for node in tree:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            full_names = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {full if full in module_files() else str(node.module) for full in full_names}
    return names & module_files().keys()


@cache
def imports() -> dict[str, set[str]]:
    """The modules of ours that each module imports: at its top, in functions, and for types alone."""
    return {name: imported(nodes(file)) - {name} for name, file in module_files().items()}


@cache
def reached(name: str) -> frozenset[str]:
    """A module and all modules that it imports, directly and through others."""
    seen, ahead = {name}, [name]
    while ahead:
        new = imports()[ahead.pop()] - seen
        seen |= new
        ahead += new
    return frozenset(seen)


def loaded_by(code: str) -> set[str]:
    """The modules that a new Python process has loaded after it ran this code."""
    command = [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"]
    return set(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split())


def test_page_scripts_stand_in_a_folder_of_their_own():
    reject(
        (name_of(file) for file in (ROOT / "pages").glob("*.py")),
        "Streamlit's old pages mechanism would open deep links without app.py because of these scripts",
    )


def test_slow_imports_wait_until_they_are_needed():
    """The first page's text box is on screen before torch (seconds) is imported, a server answers before it has what its pages
    need, and our own weights are read without torch's compiler."""
    top = [node for file in ("app.py", "ui/door.py", "pages/type/page.py") for node in parse(ROOT / file).body]
    lines = [ast.unparse(node) for node in top if isinstance(node, ast.Import | ast.ImportFrom)]
    first_page = "\n".join(line for line in lines if "__future__" not in line)
    cases = [  # what runs, its code, a module that this must load, and modules that it must not
        ("the first page", first_page, "ui.shell", {"torch", "transformers", "pandas", "scipy", "sklearn"}),
        ("the server", "import app", "app", {"analysis", "models.scratch.model_folder", "tokenizers", "ui.rooms.store", "yaml"}),
        ("the writer", "import models; models.load('writer')", "models", {"torch._dynamo", "sympy", "transformers"}),
    ]
    offenders = []
    for what, code, needed, slow in cases:
        loaded = loaded_by(code)
        assert needed in loaded, f"{what} no longer loads {needed}: this test has lost its subject"
        offenders += [f"{name} is loaded by {what}" for name in sorted(slow & loaded)]
    reject(offenders, "These modules take long to import, and are loaded too early")


def test_nothing_on_screen_is_loaded_from_an_outside_host():
    folders = ("pages", "ui", "viz", "lessons", ".streamlit")
    paths = [file for folder in folders for file in sorted((ROOT / folder).rglob("*")) if file.is_file()]
    screen = [file for file in paths if file.suffix in (".py", ".js", ".css", ".html", ".md", ".toml")]
    assert {file.suffix for file in screen} >= {".py", ".js", ".css", ".md", ".toml"}
    reject(
        (line for file in (ROOT / "app.py", *screen) for line in matches(file, ASSET)), "A browser would fetch these from outside"
    )


def test_the_page_icon_is_our_own_file():
    icons = re.findall(r"page_icon\s*=\s*([^,]+),", read(ROOT / "ui" / "door.py"))
    offenders = [] if icons == ["document.ICON"] else [f"ui/door.py: page_icon is {' and '.join(icons) or 'missing'}"]
    own = (ROOT / "assets" / "icon.svg").read_bytes()
    if b64decode(document.ICON.removeprefix("data:image/svg+xml;base64,")) != own or b"xmlns" not in own:
        offenders.append("ui/document.py: ICON is not assets/icon.svg, or that has no xmlns")
    reject(offenders, "The page's icon is not ours alone (Streamlit fetches a :material/ icon from an outside host)")


def test_streamlit_settings_keep_it_at_home_and_its_two_themes_alike():
    settings = tomllib.loads(read(ROOT / ".streamlit" / "config.toml"))
    wanted = [
        ("browser", None, {"gatherUsageStats": False, "serverAddress": "localhost"}),
        ("server", "showEmailPrompt", False),
        ("runner", "postScriptGC", False),
    ]
    offenders = []
    for section, key, value in wanted:
        present = settings[section] if key is None else settings[section].get(key)
        if present != value:
            offenders.append(f"[{section}] {key or ''}: {present}, not {value}")
    differing = settings["theme"]["light"].keys() ^ settings["theme"]["dark"].keys()
    offenders += [f"[theme]: {name} is set in one of light and dark only" for name in sorted(differing)]
    reject(offenders, ".streamlit/config.toml")


def test_names_of_a_package_hide_no_module(request: pytest.FixtureRequest):
    logging.disable()  # Streamlit warns hundreds of times that ui/door.py is imported and not run, which would bury the offenders
    request.addfinalizer(lambda: logging.disable(logging.NOTSET))
    offenders = []
    for package in PACKAGES:
        names = importlib.import_module(package)
        for module in pkgutil.iter_modules(names.__path__):
            if module.name == "__main__":
                continue  # a program, which begins when it is imported
            loaded = importlib.import_module(f"{package}.{module.name}")
            if getattr(names, module.name) is not loaded:
                offenders.append(f"{package}.{module.name}")
    reject(offenders, "A module and something else have the same name")


def test_page_words_are_those_of_a_teacher_today():
    reject((line for file in words() for line in matches(file, OLD_WORDS)), "Old or unusual words")


def test_beginners_meet_no_symbol_and_no_technical_term():
    beginner = [file for file in words() if file.stem == "beginner"]
    assert beginner
    reject((line for file in beginner for line in matches(file, SYMBOLS)), "Not for beginners")


def test_apostrophes_are_typographic_in_all_that_people_read():
    """In code, the strings; texts that are given to a model have the apostrophe that people type."""
    offenders = []
    for file in (*words(), *files("docs", "lessons", suffix=".md"), *ROOT.glob("*.md")):
        offenders += matches(file, STRAIGHT_APOSTROPHE, ignored=CODE_OR_TEXT)
    for file in files("pages", "ui", "viz", suffix=".py"):
        docstrings = {id(node.value) for node in nodes(file) if isinstance(node, ast.Expr)}
        for node in nodes(file):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                match = STRAIGHT_APOSTROPHE.search(node.value)
                if match and not any(text in node.value for text in TYPED_BY_PEOPLE):
                    offenders.append(f"{name_of(file)}:{node.lineno}: {around(node.value, match)}")
    reject(offenders, "Straight apostrophes, where ’ is meant")


def test_sections_of_the_words_have_a_heading_each_and_a_body():
    offenders = []
    for file in words():
        before, *parts = re.split(r"^## +(.+)$", read(file), flags=re.M)
        headings, bodies = parts[::2], parts[1::2]
        offenders += [f"{name_of(file)}: no heading"] * (not headings)
        offenders += [f"{name_of(file)}: words before the first heading"] * bool(before.strip())
        offenders += [f"{name_of(file)}: {name!r} stands twice" for name in sorted(set(headings)) if headings.count(name) > 1]
        offenders += [
            f"{name_of(file)}: {name!r} is empty" for name, body in zip(headings, bodies, strict=True) if not body.strip()
        ]
    reject(offenders, "Sections of the pages' words")


def test_modules_import_each_other_without_a_circle():
    circles = {name: sorted(other for other in others if name in reached(other)) for name, others in imports().items()}
    reject((f"{name} imports {', '.join(others)}" for name, others in circles.items() if others), "These imports lead back")


def test_ui_has_at_most_six_floors():
    """A module's floor is one above the highest that it imports."""
    floors: dict[str, int] = {}
    ui = {
        name: {other for other in others if other.startswith("ui")} for name, others in imports().items() if name.startswith("ui")
    }
    while len(floors) < len(ui):
        ready = {
            name: 1 + max(map(floors.__getitem__, others), default=0) for name, others in ui.items() if others <= floors.keys()
        }
        assert ready.keys() - floors.keys(), f"There is a circle among {sorted(ui.keys() - floors.keys())}"
        floors |= ready
    high = sorted((floor, name) for name, floor in floors.items() if floor > 6)
    reject(
        (f"{name} (floor {floor}) imports {', '.join(sorted(ui[name]))}" for floor, name in high), "Above the sixth floor of ui/"
    )


def test_ui_modules_serve_two_pages_at_least():
    """A module of ui/ serves the app on every page, or at least two pages; what one page uses stands in its folder."""
    pages = sorted({name.split(".")[1] for name in imports() if name.startswith("pages.")})
    users = {page: set().union(*(reached(name) for name in imports() if name.startswith(f"pages.{page}."))) for page in pages}
    served = {name for name in imported(parse(ROOT / "app.py").body) if name.startswith("ui")}
    everywhere = set().union(*(reached(name) for name in {"ui.door", "ui.command", *served}))
    offenders = []
    for name, others in imports().items():
        if name.startswith("ui.") and others and name not in everywhere:
            using = [page for page, modules in users.items() if name in modules]
            offenders += [f"{name} is used by {', '.join(using) or 'no page'}"] * (len(using) < 2)
    reject(offenders, "Modules of ui/ that belong to one page")


def test_session_keys_and_address_keys_stand_in_state_files():
    """No other file of the pages and of ui/ reads either, or names the key of a visitor's choice by a literal."""
    offenders = []
    for file in files("ui", "pages", suffix=".py"):
        for node in nodes(file):
            if isinstance(node, ast.Attribute) and node.attr in ("session_state", "query_params") and file.name != "state.py":
                offenders.append(f"{name_of(file)}:{node.lineno}: {ast.unparse(node)}")
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WIDGETS:
                keys = [word.value for word in node.keywords if word.arg == "key"]
                literals = [ast.unparse(key) for key in keys if isinstance(key, ast.Constant | ast.JoinedStr)]
                offenders += [f"{name_of(file)}:{node.lineno}: {node.func.attr}(key={literal})" for literal in literals]
    reject(offenders, "The session and the address are for state.py")


def test_private_names_stay_in_their_file():
    offenders = []
    for file in python():
        for node in nodes(file):
            if isinstance(node, ast.ImportFrom) and node.module and (ROOT / node.module.partition(".")[0]).is_dir():
                private = [alias.name for alias in node.names if alias.name.startswith("_")]
                offenders += [f"{name_of(file)}:{node.lineno}: from {node.module} import {name}" for name in private]
    reject(offenders, "Private names of another file")


def test_private_attributes_stay_in_their_file():
    """`thing._name` is read and set only in the files that define such a name, not where another file of ours does."""
    paths = files(*FOLDERS, suffix=".py")
    defined = {path: {name for node in nodes(path) for name in definitions(node) if name.startswith("_")} for path in paths}
    offenders = []
    for path in paths:
        for node in nodes(path):
            if isinstance(node, ast.Attribute) and re.match("_[^_]", node.attr) and node.attr not in defined[path]:
                homes = [name_of(other) for other, names in defined.items() if node.attr in names]
                offenders += [f"{name_of(path)}:{node.lineno}: {ast.unparse(node)} (of {home})" for home in homes[:1]]
    reject(offenders, "Private attributes of another file")


def definitions(node: ast.AST) -> list[str]:
    """The names of functions, classes, variables and attributes that a node defines."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
        return [node.id if isinstance(node, ast.Name) else node.attr]
    return []


def length(function: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> int:
    """How many lines of code a function has, without its docstring, its comments and blank lines."""
    first = function.body[0]
    start = first.end_lineno if ast.get_docstring(function) is not None else first.lineno - 1
    assert start is not None and function.end_lineno is not None
    code = [*lines[function.lineno - 1 : first.lineno - 1], *lines[start : function.end_lineno]]
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in code)


def test_values_and_functions_are_named_by_what_they_are():
    """A vague name costs each reader a look at where it comes from."""
    reject(
        (
            f"{name_of(path)}:{node.lineno}: {name}"
            for path in files(*FOLDERS, suffix=".py")
            for node in nodes(path)
            for name in assigned(node)
            if name.strip("_") in VAGUE
        ),
        f"Names such as {', '.join(sorted(VAGUE))}",
    )


def assigned(node: ast.AST) -> list[str]:
    """The names that a node gives: of a variable, an attribute, a parameter, an error, a pattern, a function or a class."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return [node.id]
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return [node.attr]
    if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name.lower()] if node.name else []
    return [node.arg] if isinstance(node, ast.arg) else []


def test_functions_fit_on_a_screen():
    offenders = []
    for file in python():
        lines = read(file).splitlines()
        for node in nodes(file):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and f"{name_of(file)}:{node.name}" not in LONGER:
                count = length(node, lines)
                offenders += [f"{name_of(file)}:{node.lineno}: {node.name} has {count} lines"] * (count > LONGEST)
    reject(offenders, f"Functions of more than {LONGEST} lines of code")


def units(node: ast.AST) -> list[str]:
    """The units that follow a number in an f-string, or are a string of their own (an axis may end in %)."""
    if isinstance(node, ast.JoinedStr):
        pairs = zip(node.values, node.values[1:], strict=False)
        after = [text.value for value, text in pairs if isinstance(value, ast.FormattedValue) and isinstance(text, ast.Constant)]
        return [text for text in after if UNIT.match(str(text))]
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and "%" not in node.value and UNIT.fullmatch(node.value):
        return [node.value]
    return []


def test_units_are_written_by_the_files_that_put_numbers_into_words():
    """Shares, sizes and large numbers are put into words in one way, by few files."""
    checked = [file for file in files(*FOLDERS, suffix=".py") if name_of(file) not in NUMBERS_TO_WORDS]
    reject(
        (f"{name_of(file)}:{node.lineno}: {unit!r}" for file in checked for node in nodes(file) for unit in units(node)),
        "Units beside a number that no shared function wrote",
    )
