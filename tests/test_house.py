"""Rules of the house that import-linter and ruff cannot say."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
from base64 import b64decode
from functools import cache

import pytest

from tests.serving import ROOT
from ui import document

SHOWN = [
    file
    for folder in ("pages", "ui", "viz", "lessons", ".streamlit")
    for file in sorted((ROOT / folder).rglob("*"))
    if file.is_file()
]
SHOWN = [ROOT / "app.py", *(file for file in SHOWN if file.suffix in (".py", ".js", ".css", ".html", ".md", ".toml"))]


def test_no_script_stands_directly_in_pages():
    assert not list((ROOT / "pages").glob("*.py")), "Streamlit's old pages mechanism would open deep links without app.py"


def test_the_text_box_of_the_first_page_waits_for_nothing_heavy():
    """Torch takes seconds to import; the first page is on screen before that begins."""
    lines = []
    for file in ("app.py", "ui/door.py", "pages/type/page.py"):
        text = (ROOT / file).read_text(encoding="utf-8")
        lines += [ast.unparse(one) for one in ast.parse(text).body if isinstance(one, ast.Import | ast.ImportFrom)]
    lines = [line for line in lines if "__future__" not in line]
    check = "\n".join([*lines, "import sys; print(*sys.modules)"])
    said = subprocess.run([sys.executable, "-c", check], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert "ui.shell" in said and not {"torch", "transformers", "pandas", "scipy", "sklearn"} & set(said)


@pytest.mark.parametrize(
    ("does", "waits"),
    [
        ("import app", {"analysis", "models.scratch.folder", "tokenizers", "ui.rooms.store", "yaml"}),
        ("import models; models.load('writer')", {"torch._dynamo", "sympy", "transformers"}),
    ],
)
def test_what_takes_long_to_import_waits_until_it_is_needed(does, waits):
    """A server answers before it has what its pages need; and weights of ours are read without torch's compiler."""
    check = f"{does}; import sys; print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", check], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert does.split()[1].rstrip(";") in said and not waits & set(said)


@pytest.mark.parametrize("file", SHOWN, ids=lambda file: str(file.relative_to(ROOT)))
def test_nothing_on_screen_is_loaded_from_an_outside_host(file):
    text = file.read_text(encoding="utf-8")
    asset = re.compile(
        r"""https?://[^\s"'()<>]+\.(?:m?js|css|woff2?|ttf|png|jpe?g|gif|svg|wasm)\b|url\(\s*["']?(?:https?:)?//|@import|fonts\.g"""
    )
    assert not asset.search(text)
    assert not re.search(r"""(?:src|srcset)\s*=\s*["'](?:https?:)?//""", text)


def test_the_page_icon_is_none_that_streamlit_fetches():
    icons = re.findall(r"page_icon\s*=\s*([^,]+),", (ROOT / "ui" / "door.py").read_text(encoding="utf-8"))
    assert icons == ["document.ICON"], "Streamlit fetches a :material/ icon from an outside host"
    own = (ROOT / "assets" / "icon.svg").read_bytes()
    assert b64decode(document.ICON.removeprefix("data:image/svg+xml;base64,")) == own and b"xmlns" in own


def test_streamlit_is_told_to_stay_at_home():
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert settings["browser"] == {"gatherUsageStats": False, "serverAddress": "localhost"}
    assert settings["server"]["showEmailPrompt"] is False and settings["runner"]["postScriptGC"] is False


def test_light_and_dark_have_the_same_settings():
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
    assert theme["light"].keys() == theme["dark"].keys()


PACKAGES = ["analysis", "models", "models.scratch", "models.huggingface", "viz", "viz.views", "pages.attention.views"]
PACKAGES += ["ui", "ui.believe", "ui.choices", "ui.memory", "ui.picture", "ui.serving"]


@pytest.mark.parametrize("package", PACKAGES)
def test_no_name_of_a_package_hides_a_module_of_that_name(package):
    house = importlib.import_module(package)
    for module in pkgutil.iter_modules(house.__path__):
        found = importlib.import_module(f"{package}.{module.name}")
        assert getattr(house, module.name) is found, f"{package}.{module.name} is a module and something else"


WORDS = sorted(file for folder in ("pages", "ui") for file in (ROOT / folder).rglob("*.md"))
OLD = r"on the mean|reckon|\banew\b|foresee|by chance|go(?:es)? on with|\bupon\b|\b(?:there|where)of\b|leave-one-out aside"
SYMBOLS = r"[Σ‖√∂λθ∈∞²ᵀ₂]|[A-Za-z]\[|softmax|logit|\b(?:nats|bits|bytes?)\b|Norm\b|d_model|float\d|tensor|et al\."


@pytest.mark.parametrize("file", WORDS, ids=lambda file: str(file.relative_to(ROOT)))
def test_pages_speak_as_a_teacher_speaks_today(file):
    assert not re.findall(OLD, file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", [one for one in WORDS if one.stem == "beginner"], ids=lambda file: file.parent.name)
def test_beginners_meet_no_symbol_and_no_term_of_the_trade(file):
    assert not re.findall(SYMBOLS, file.read_text(encoding="utf-8"))


READ = [*WORDS, *(ROOT / "docs").glob("*.md"), *(ROOT / "lessons").rglob("*.md"), *ROOT.glob("*.md")]
APOSTROPHE = re.compile(r"[^\W_]'(?:s|t|re|ve|ll|d|m)\b|[a-z]s'(?=[ ,.;:)])")


@pytest.mark.parametrize("file", READ, ids=lambda file: str(file.relative_to(ROOT)))
def test_what_people_read_has_one_apostrophe(file):
    text = re.sub(r"^ *(`{3,})(?!yaml).*?^ *\1|`[^`\n]+`|^ *(?:text|target):.*$", "", file.read_text("utf-8"), flags=re.M | re.S)
    assert not [text[max(0, one.start() - 20) : one.end() + 20] for one in APOSTROPHE.finditer(text)]


def test_sentences_in_the_code_have_it_too_and_texts_for_models_the_one_that_people_type():
    typed, found = ("I don't want", "don't you"), []
    for file in (file for folder in ("pages", "ui", "viz") for file in (ROOT / folder).rglob("*.py")):
        tree = ast.parse(file.read_text("utf-8"))
        notes = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        found += [one.value for one in texts if id(one) not in notes and APOSTROPHE.search(one.value)]
    assert not [one for one in found if not any(text in one for text in typed)]


@pytest.mark.parametrize("file", WORDS, ids=lambda file: str(file.relative_to(ROOT)))
def test_sections_have_a_heading_each_and_words_in_them(file):
    headings = re.findall(r"^## +(.+)$", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(set(headings)) == len(headings) > 0
    bodies = re.split(r"^## +.+$", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert bodies[0].strip() == "" and all(one.strip() for one in bodies[1:])


@cache
def modules(folders: tuple[str, ...] = ("pages", "ui", "viz", "analysis", "models")) -> dict[str, set[str]]:
    """Of each file of ours, as a module, which others it imports: at its top, in functions, and for types alone.

    In models/ those for types alone do not count: a model and what reads on with it name each other.
    """
    files = {}
    for folder in folders:
        for file in (ROOT / folder).rglob("*.py"):
            files[".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")] = file
    found: dict[str, set[str]] = {}
    for name, file in files.items():
        asked = set()
        tree = ast.parse(file.read_text(encoding="utf-8"))
        if name.startswith("models"):
            tree.body = [one for one in tree.body if not (isinstance(one, ast.If) and ast.unparse(one.test) == "TYPE_CHECKING")]
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                asked |= {one.name for one in node.names}
            elif isinstance(node, ast.ImportFrom):
                asked |= {full if (full := f"{node.module}.{one.name}") in files else node.module for one in node.names}
        found[name] = (asked & files.keys()) - {name}
    return found


def reached(name: str) -> set[str]:
    """A file, and all that it imports by way of others."""
    seen, ahead = {name}, [name]
    while ahead:
        ahead += [one for one in modules()[ahead.pop()] if one not in seen and not seen.add(one)]
    return seen


def test_no_file_imports_itself_by_way_of_others():
    assert not {name for name, others in modules().items() if any(name in reached(one) for one in others)}


def test_ui_stands_on_five_floors():
    """A file's floor is one above the highest that it imports."""
    floors: dict[str, int] = {}
    ui = {name: {one for one in others if one.startswith("ui")} for name, others in modules().items() if name.startswith("ui")}
    while len(floors) < len(ui):
        ready = {name: 1 + max(map(floors.get, others), default=0) for name, others in ui.items() if others <= floors.keys()}
        assert ready.keys() - floors.keys(), "there is a circle"
        floors |= ready
    assert max(floors.values()) <= 5, [name for name, floor in floors.items() if floor > 5]


def test_what_one_page_uses_stands_in_its_folder():
    """A file of ui/ serves the app on every page, or at least two pages."""
    pages = {name.split(".")[1] for name in modules() if name.startswith("pages.")}
    users = {page: set().union(*(reached(name) for name in modules() if name.startswith(f"pages.{page}."))) for page in pages}
    lines = [line for line in (ROOT / "app.py").read_text(encoding="utf-8").splitlines() if line.startswith("from ui")]
    served = {f"{line.split()[1]}.{one}" for line in lines for one in line.partition(" import ")[2].split(", ")}
    everywhere = (reached("ui.door") | reached("ui.command")).union(*(reached(name) for name in served))
    alone = {
        name
        for name, others in modules().items()
        if name.startswith("ui.") and others and name not in everywhere and sum(name in used for used in users.values()) < 2
    }
    assert not alone


def test_every_key_of_the_session_and_of_an_address_stands_in_one_file():
    """No other file of the pages looks into either, or names a choice of a visitor by a literal."""
    widgets = "segmented_control selectbox toggle checkbox slider select_slider number_input text_input text_area menu_button"
    found = []
    for file in (*(ROOT / "ui").rglob("*.py"), *(ROOT / "pages").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in ("session_state", "query_params") and file.name != "state.py":
                found.append(f"{file.relative_to(ROOT)}:{node.lineno}")
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in widgets.split():
                keys = [one.value for one in node.keywords if one.arg == "key"]
                if any(isinstance(one, ast.Constant | ast.JoinedStr) for one in keys):
                    found.append(f"{file.relative_to(ROOT)}:{node.lineno}")
    assert not found


PYTHON = sorted(
    file for top in ("pages", "ui", "viz", "analysis", "models", "benchmarks", "bin") for file in (ROOT / top).rglob("*.py")
)


@pytest.mark.parametrize("file", PYTHON, ids=lambda file: str(file.relative_to(ROOT)))
def test_no_file_reaches_into_the_private_names_of_another(file):
    imports = [one for one in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(one, ast.ImportFrom)]
    ours = [one for one in imports if one.module and (ROOT / one.module.partition(".")[0]).is_dir()]
    names = [alias.name for one in ours for alias in one.names]
    assert not [name for name in names if name.startswith("_")]


LONG = 60  # lines of code, its docstring and comments apart
LONGER: dict[str, str] = {}  # functions that may be longer, each with the reason


@pytest.mark.parametrize("file", PYTHON, ids=lambda file: str(file.relative_to(ROOT)))
def test_no_function_is_longer_than_a_screen(file):
    text = file.read_text(encoding="utf-8")
    lines, long = text.splitlines(), []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            start = node.body[0].end_lineno if ast.get_docstring(node) is not None else node.body[0].lineno - 1
            numbers = [*range(node.lineno, node.body[0].lineno), *range(start + 1, node.end_lineno + 1)]
            code = [line for line in (lines[i - 1].strip() for i in numbers) if line and not line.startswith("#")]
            if len(code) > LONG and f"{file.relative_to(ROOT)}:{node.name}" not in LONGER:
                long.append(f"{node.name}: {len(code)} lines")
    assert not long


UNITS = re.compile(r" ?(?:[kMGT]i?B|thousand|million|billion|trillion)\b| ?%(?![\w{])")
IN_WORDS = {  # where numbers are put into words
    "models/sizes.py", "viz/numbers.py",
    "ui/memory/jobs.py",  # how far work is, in whole hundredths
    "pages/generate/cache.py",  # operations, of which there may be more than of anything else
}  # fmt: skip
APP = [file for file in PYTHON if file.relative_to(ROOT).parts[0] not in ("benchmarks", "bin")]


@pytest.mark.parametrize("file", APP, ids=lambda file: str(file.relative_to(ROOT)))
def test_shares_sizes_and_large_numbers_are_put_into_words_in_one_way(file):
    """Nowhere else does a unit follow a number in a text that is put together, or stand by itself."""
    if str(file.relative_to(ROOT)) in IN_WORDS:
        return
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            pairs = zip(node.values, node.values[1:], strict=False)
            after = [two for one, two in pairs if isinstance(one, ast.FormattedValue) and isinstance(two, ast.Constant)]
            found += [one.value for one in after if UNITS.match(one.value)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "%" not in node.value:  # an axis may end in %
            found += [node.value] * bool(UNITS.fullmatch(node.value))
    assert not found
