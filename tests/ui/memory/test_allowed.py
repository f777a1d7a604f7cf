"""Which folders visitors may open, with links, `..` and circles."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import ModelError
from ui.memory import allowed, cached


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """models/tiny, beside it secret; models/out leads to secret, link leads to models, models/round to itself."""
    for folder in ("models/tiny", "models-too", "secret/deep"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "models/out").symlink_to(tmp_path / "secret")
    (tmp_path / "link").symlink_to(tmp_path / "models")
    (tmp_path / "models/round").symlink_to(tmp_path / "models/round")
    return tmp_path


@pytest.mark.parametrize(
    "path", ["models", "models/tiny", "models/not-there", "models/tiny/../tiny", "link/tiny", "secret/../models"]
)
def test_what_is_inside(tree, path):
    assert allowed.inside(f"{tree}/{path}", ((tree / "models").resolve(),))


@pytest.mark.parametrize(
    "path",
    [
        "secret",
        "secret/deep",
        "not-there",
        "models/../secret",
        "models/out",
        "models/out/deep",
        "models-too",
        "models/..",
        "",
        "models/tiny/\0",
        "models/round/../../secret",
    ],
)
def test_what_is_outside(tree, path):
    assert not allowed.inside(f"{tree}/{path}", ((tree / "models").resolve(),))


@given(st.lists(st.sampled_from(["..", ".", "a", "models", "out", "tiny", "link"]), max_size=8))
def test_inside_agrees_with_where_the_path_leads(tmp_path_factory, parts):
    root = tmp_path_factory.getbasetemp() / "agree"
    (root / "models/tiny").mkdir(parents=True, exist_ok=True)
    if not (root / "models/out").is_symlink():
        (root / "models/out").symlink_to(root)
        (root / "link").symlink_to(root / "models")
    path = os.path.join(root, "models", *parts)
    leads = os.path.realpath(path)
    home = os.path.realpath(root / "models")
    assert allowed.inside(path, (Path(home),)) == (leads == home or leads.startswith(home + os.sep))


@pytest.mark.parametrize("address", ["localhost", "127.0.0.1", "::1"])
def test_where_only_this_machine_listens_any_folder_may_be_opened(tree, address):
    assert allowed.inside(str(tree / "secret"), allowed.roots({}, address))


@pytest.mark.parametrize("address", [None, "", "0.0.0.0", "::", "192.168.1.5", "example.org"])
def test_a_public_server_opens_no_folder_unless_told(tree, address):
    assert not allowed.inside(str(tree / "models"), allowed.roots({}, address))
    named = {"HEADLIGHT_MODEL_DIRS": f"{tree / 'link'}{os.pathsep}{tree / 'models-too'}"}
    assert allowed.inside(str(tree / "models/tiny"), allowed.roots(named, address))
    assert allowed.inside(str(tree / "models-too"), allowed.roots(named, address))
    assert not allowed.inside(str(tree / "secret"), allowed.roots(named, address))


def test_an_empty_list_of_folders_means_none_even_at_home(tree):
    assert not allowed.inside(str(tree / "models"), allowed.roots({"HEADLIGHT_MODEL_DIRS": ""}, "localhost"))


def test_a_refusal_does_not_tell_whether_the_folder_exists(tree, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_MODEL_DIRS", str(tree / "models"))
    sentences = set()
    for path in ("secret", "not-there", "models/out", "models/out/not-there"):
        with pytest.raises(ModelError) as refusal:
            allowed.check_folder(f"{tree}/{path}")
        sentences.add(str(refusal.value))
    assert len(sentences) == 1 and str(tree) not in sentences.pop()
    allowed.check_folder(f"{tree}/models/tiny")


@pytest.mark.parametrize(("value", "downloads"), [("1", True), ("", True), ("0", False), ("off", False), (" No ", False)])
def test_downloads_can_be_switched_off(monkeypatch, value, downloads):
    monkeypatch.setenv("HEADLIGHT_HUB", value)
    monkeypatch.setattr(cached, "names", lambda fresh=0.0: ("owner/here",))
    allowed.check_hub("owner/here")
    allowed.check_hub("owner/here@main")
    if downloads:
        allowed.check_hub("owner/elsewhere")
    else:
        with pytest.raises(ModelError, match="downloads no models"):
            allowed.check_hub("owner/elsewhere")


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "Via", "X-Real-Ip", "X-Forwarded-Proto"])
def test_who_comes_through_a_proxy_opens_no_folder(tree, monkeypatch, header):
    monkeypatch.delenv("HEADLIGHT_MODEL_DIRS", raising=False)
    context = SimpleNamespace(headers={}, ip_address=None)
    monkeypatch.setattr(allowed.st, "context", context)
    monkeypatch.setattr(allowed.st, "get_option", lambda name: "localhost")
    assert allowed.inside(str(tree / "models"), allowed.folders())
    context.headers = {header: "203.0.113.7"}
    assert not allowed.folders()
    context.headers, context.ip_address = {}, "203.0.113.7"  # the proxy's header was already taken off, and believed
    assert not allowed.folders()
