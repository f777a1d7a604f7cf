"""The app at a link, without a browser: as a server runs it for a visitor who opens that address."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from models.huggingface.names import is_folder_name
from tests.serving import ROOT
from ui.memory import jobs, loaded

PAGES = (
    "overview",
    "type",
    "attention",
    "layers",
    "flow",
    "space",
    "inside",
    "generate",
    "explain",
    "change",
    "heads",
    "build",
    "train",
    "adapt",
    "lessons",
    "room",
)
PATIENCE = 120.0  # seconds

# Each new AppTest reads what is written of every installed package; here once is enough, as on a server.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)


def open_link(page: str, link: str = "", finished: bool = True) -> AppTest:
    """A page at a link, "level=expert&view=Model", when all that it computes is there, or else after its first run; `warned`: all
    that it warned of since."""
    app = open_given(page, dict(parse_qsl(link, keep_blank_values=True)))
    return finish(app) if finished else app


def open_given(page: str, given: Mapping[str, Any], listed: tuple[str, ...] = ()) -> AppTest:
    """A page after its first run, at an address with these names and values: texts, bytes as they are sent, or lists of them.
    listed: models that the menu has besides, for AppTest keeps to what a menu has in its first run."""
    asked = [name for name in (given.get("model", "writer"), given.get("other-model", "writer")) if isinstance(name, str)]
    for name in {*asked} & {"writer", "filler", "translator", "sorter", "digits"}:
        loaded.model(name)  # so that the page need not be seen waiting for it
    app = AppTest.from_file(str(ROOT / "ui" / "door.py"), default_timeout=PATIENCE)
    app._page_hash = calc_hash(page)
    for name, value in given.items():
        app.query_params[name] = value
    if is_folder_name(asked[0] if asked else ""):
        listed = (asked[0], *listed)
    if listed:
        app.session_state["recent"] = listed
    app.run()
    app.warned = [element.value for element in app.warning]
    return app


def finish(app: AppTest) -> AppTest:
    """The same when all that it computes is there, and none of it failed."""
    wait(app)
    assert not app.exception and not app.error, [element.value for element in (*app.exception, *app.error)]
    return app


def wait(app: AppTest) -> AppTest:
    """The same when nothing is computed any more."""
    until = time.monotonic() + PATIENCE
    while is_at_work(app) and time.monotonic() < until:
        rest()
        app.run()
        app.warned += [element.value for element in app.warning]
    return app


def rest(most: float = 2.0) -> None:
    """Lets the jobs of this process work until one of them ends, or for that many seconds: a page that is drawn meanwhile would
    only take their time."""
    until, began = time.monotonic() + most, sum(jobs.under_way())
    while began and sum(jobs.under_way()) >= began and time.monotonic() < until:
        time.sleep(0.01)


def is_at_work(app: AppTest) -> bool:
    """Whether a job's progress stands on the page."""
    return any(re.search(r"… \d+\s%$", element.proto.text) for element in app.get("progress"))


def press(app: AppTest, label: str) -> AppTest:
    """The page after a press on the one button that is called so."""
    (button,) = (button for button in app.button if button.label == label)
    return button.click().run()


def words_on(app: AppTest) -> str:
    """All that the page says in words beside its pictures; those that are explained stand there as they are read."""
    placed = [one.value for one in (*app.markdown, *app.caption, *app.warning, *app.info)]
    return unmarked("\n".join([*placed, *words_on_boards(app)]))


def words_on_boards(app: AppTest) -> list[str]:
    """The sentences on boards that hold nothing else."""
    headers = [header_of(bytes(one.proto.bytes)) for one in app.get("bidi_component")]
    parts = [[part for card in header.get("cards", ()) for part in card["parts"]] for header in headers]
    return [part["above"] for each in parts if not any(part["kind"] for part in each) for part in each]


def header_of(data: bytes) -> dict[str, Any]:
    """The header of a view’s bytes; {} of what is none."""
    length = int.from_bytes(data[:4], "little")
    values = json.loads(data[4 : 4 + length]) if 0 < length < len(data) else {}
    return values if isinstance(values, dict) else {}


def unmarked(text: str) -> str:
    """Words without the marks of those that are explained (see `ui.lexicon.marks`)."""
    return re.sub(r"\[([^\[\]]*)\]\(#w-[a-z0-9-]+\)", r"\1", text)
