"""What all tests share: no test reaches a network."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain

os.environ["HF_HUB_OFFLINE"] = "1"
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # the workers share the cores already; torch reads this when it is imported

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, Page, sync_playwright
from xdist.scheduler import LoadScopeScheduling

from tests.serving import ROOT, Server, Watched, find_chromium, launch, serve

Window = tuple[int, int, bool]  # width, height, dark
OFF = [  # what Playwright itself switches off of what a page may meet: a browser hears the last list alone
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
]

STARTS_A_SERVER = re.compile(r"\bserve(_by)?\(")

# Of the architectures of the Hub, `make test` has a decoder, an encoder with and without a head, an encoder-decoder, and a
# decoder whose softmax is tapped; `make test-all` has all.
CORE = {"GPT-2", "BERT", "BERT without a head", "T5", "BLOOM"}

settings.register_profile("headlight", deadline=None)  # how long a test takes is said by benchmarks, not by tests
settings.load_profile("headlight")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what drives a browser or asks a server of its own, and put the tests into the order in which workers take them.

    Such a test is left to `make test-all` unless it is marked `smoke`, and so are architectures beyond CORE. Whole files come
    first, then single browser tests, which fill what is left of each worker's time, and last of all what is marked `late`."""
    for item in items:
        if "chromium" in item.fixturenames:
            item.add_marker(pytest.mark.browser)
        elif {"server", "several"} & set(item.fixturenames) or starts_a_server(item.function):
            item.add_marker(pytest.mark.served)
        if ({"browser", "served"} & item.keywords.keys() and "smoke" not in item.keywords) or is_of_another_architecture(item):
            item.add_marker(pytest.mark.thorough)
    items.sort(key=lambda item: ("late" in item.keywords, stands_alone(item.nodeid.partition("::")[0])))


def is_of_another_architecture(item: pytest.Item) -> bool:
    """Whether a test is about an architecture that is not in CORE."""
    networks = sys.modules.get("tests.models.networks")  # where no test has imported it, none is about one
    values = item.callspec.params.values() if networks and hasattr(item, "callspec") else ()
    return any(isinstance(value, str) and value in networks.NETWORKS and value not in CORE for value in values)


@cache
def starts_a_server(function: Callable[..., object]) -> bool:
    return bool(STARTS_A_SERVER.search(inspect.getsource(function)))


@cache
def stands_alone(file: str) -> bool:
    """Whether each test of a file may run on any worker: it asks that worker's server, and nothing is made for the file."""
    text = (ROOT / file).read_text("utf-8")
    return file.startswith("tests/browser/") and 'scope="module"' not in text and not STARTS_A_SERVER.search(text)


class Scheduling(LoadScopeScheduling):
    """The tests of a file go to one worker, since they share what is made once for them; browser tests go one by one."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return nodeid if stands_alone(file) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Scheduling:
    return Scheduling(config, log)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The app, served once for all tests of a worker that do it no harm.

    At the end of the session this fails if the server reached beyond this machine."""
    with serve() as running:
        yield running


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of Chromium. Without one its tests are skipped, but in CI they fail."""
    path = find_chromium()
    if path is None:
        say = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        how = "on Debian, sudo apt install chromium-headless-shell; or name one with CHROMIUM=/path/to/chrome"
        say(f"No Chromium or Chrome: {how}.")
    return path


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # One process for a site keeps its compiled code (see Watched.hold), unless a script is compiled while it comes.
        # A page lives for seconds: to optimize its code costs more than it brings.
        features = f"--disable-features={','.join(['ScriptStreaming', *OFF])}"
        running = launch(playwright, chromium, "--process-per-site", "--js-flags=--no-opt", features)
        yield running
        running.close()


@pytest.fixture(scope="session")
def resting(browser: Browser) -> Iterator[dict[Window, list[Watched]]]:
    """Browser contexts by their window that no test uses now. What they fetched of the app they need not fetch again."""
    contexts: dict[Window, list[Watched]] = defaultdict(list)
    yield contexts
    for context in chain.from_iterable(contexts.values()):
        context.close()


@pytest.fixture
def new_page(browser: Browser, resting: dict[Window, list[Watched]]) -> Iterator[Callable[..., Page]]:
    """`new_page(width=1280, height=800, dark=False, hold="")`: an empty page of a visitor of its own.

    hold: an address of the site that it will visit, of a page on which nothing runs (see `Watched.hold`).
    The test fails at its end if a page asked for anything but localhost, or let a JavaScript error through.
    """
    used: list[tuple[Window, Watched]] = []

    def make(width: int = 1280, height: int = 800, dark: bool = False, hold: str = "") -> Page:
        window = width, height, dark
        used.append((window, resting[window].pop() if resting[window] else Watched(browser, *window)))
        if hold:
            used[-1][1].hold(hold)
        return used[-1][1].page()

    yield make
    for window, context in used:
        resting[window].append(context)
    for _, context in used:
        context.leave()
