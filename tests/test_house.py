"""Rules of the house that import-linter and ruff cannot say."""

import re
import tomllib

import pytest

from tests.serving import ROOT

SHOWN = [
    file
    for folder in ("pages", "ui", "viz", "lessons", ".streamlit")
    for file in sorted((ROOT / folder).rglob("*"))
    if file.is_file()
]
SHOWN = [ROOT / "app.py", *(file for file in SHOWN if file.suffix in (".py", ".js", ".css", ".html", ".md", ".toml"))]


def test_no_script_stands_directly_in_pages():
    assert not list((ROOT / "pages").glob("*.py")), "Streamlit's old pages mechanism would open deep links without app.py"


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
    assert icons and all("assets/" in icon for icon in icons), "Streamlit fetches a :material/ icon from an outside host"


def test_streamlit_is_told_to_stay_at_home():
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert settings["browser"] == {"gatherUsageStats": False, "serverAddress": "localhost"}
    assert settings["server"]["showEmailPrompt"] is False and settings["runner"]["postScriptGC"] is False


def test_light_and_dark_have_the_same_settings():
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
    assert theme["light"].keys() == theme["dark"].keys()
