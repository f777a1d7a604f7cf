"""Words of a page as they stand on the screen."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from ui import device, state
from ui.words import words

TEXT = """## share
Point at a word. {name} gets {share} %, and the words that you point at get 5 %.
"""
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Safari/604.1"
DESKTOP = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/126.0 Safari/537.36"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "beginner.md").write_text(TEXT, "utf-8")
    return tmp_path


def words_for_browser(monkeypatch, folder: Path, browser: dict[str, str]) -> str:
    monkeypatch.setattr(device, "st", SimpleNamespace(context=SimpleNamespace(headers=browser)))
    state.DEVICE.pop()
    return words(folder, "share", name="“dog”", share=58)


def test_a_number_and_its_sign_stay_on_one_line(monkeypatch, folder):
    sentence = "Point at a word. “dog” gets 58\u00a0%, and the words that you point at get 5\u00a0%."
    assert (
        words_for_browser(monkeypatch, folder, {"User-Agent": DESKTOP}) == words_for_browser(monkeypatch, folder, {}) == sentence
    )


def test_who_has_no_mouse_is_told_to_press(monkeypatch, folder):
    sentence = words_for_browser(monkeypatch, folder, {"User-Agent": PHONE})
    assert sentence.startswith("Press a word.") and "the words that you press get" in sentence
