"""What all tests share: no test reaches a network."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import chain

os.environ["HF_HUB_OFFLINE"] = "1"
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # the workers share the cores already; torch reads this when it is imported

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, Page, sync_playwright

from tests.serving import Watched, find_chromium, launch

Window = tuple[int, int, bool]  # width, height, dark
ONLY_SERVED = 10  # the exit status of a run whose failed tests all ask a running server; pytest's own end at 5
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
failed: dict[str, bool] = {}  # each test that failed, and whether it asks a running server

settings.register_profile("headlight", deadline=None)  # how long a test takes is said by benchmarks, not by tests
settings.load_profile("headlight")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test that asks for a browser is marked so.

    Where a machine has more to do than it can, a browser may see half of what a person waits for. Such a test is tried
    up to three times, and the summary names it ("RERUN"), for the cause may be the app's own.
    What asks a server without a browser is marked too. What is marked `late` comes last."""
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.flaky(reruns=2))
        elif {"serve", "serve_by"} & vars(item.module).keys():
            item.add_marker(pytest.mark.served)
    items.sort(key=lambda item: "late" in item.keywords)  # the others stay in their order


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Where nothing failed but what asks a server, with a browser or without, the run ends with ONLY_SERVED, and `make test`
    tries those tests once more alone."""
    if exitstatus == pytest.ExitCode.TESTS_FAILED and failed and all(failed.values()):
        session.exitstatus = ONLY_SERVED


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        failed[report.nodeid] = bool({"browser", "served"} & report.keywords.keys())


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        failed[report.nodeid] = False


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
        running = launch(playwright, chromium, "--process-per-site", f"--disable-features={','.join(['ScriptStreaming', *OFF])}")
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
