"""A Streamlit server and a Chromium of their own, for the browser tests and the benchmarks."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Page, Playwright

ROOT = Path(__file__).parent.parent
_WATCH = Path(__file__).parent / "browser" / "watch"  # its sitecustomize.py refuses and reports outside connections
_QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
]


def find_chromium() -> str | None:
    """The path of a Chromium or Chrome, or None."""
    completed = subprocess.run([ROOT / "bin" / "chromium"], capture_output=True, text=True, check=False)
    return completed.stdout.strip() if completed.returncode == 0 else None


def launch(playwright: Playwright, path: str, *flags: str) -> Browser:
    """Headless Chromium in which only localhost exists: every other name and address fails to resolve."""
    only_here = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"
    return playwright.chromium.launch(executable_path=path, args=[*_QUIET, only_here, *flags])


class Watched:
    """A browser context that remembers every request that left the machine, and every uncaught JavaScript error."""

    def __init__(self, browser: Browser, width: int = 1280, height: int = 800, dark: bool = False) -> None:
        scheme = "dark" if dark else "light"
        self.context: BrowserContext = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        self.context.set_default_timeout(60_000)
        self.outside: list[str] = []
        self.errors: list[str] = []
        self.context.on("request", lambda request: self._look_at(request.url))
        self.context.on("weberror", lambda error: self.errors.append(str(error.error)))
        # What the server's own headers forbid the page is missing there, without an error in its JavaScript.
        self.context.on(
            "console", lambda message: self.errors.extend([message.text] * ("Content Security Policy" in message.text))
        )
        self.context.on("page", lambda page: page.on("websocket", lambda socket: self._look_at(socket.url)))

        self.held: Page | None = None

    def _look_at(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.hostname not in ("localhost", "127.0.0.1"):
            self.outside.append(url)

    def page(self) -> Page:
        return self.context.new_page()

    def hold(self, url: str) -> None:
        """Keeps a page of this address, on which nothing runs, beside those of all visitors to come: where the browser has one
        process for a site, that process stays, and has compiled their code already."""
        if self.held is None:
            self.held = self.page()
            self.held.goto(url)

    def leave(self) -> None:
        """The next page is that of another visitor. Raises AssertionError as `close` does."""
        for page in [*(page for page in self.context.pages if page != self.held), *filter(None, [self.held])]:
            page.evaluate("() => { try { localStorage.clear() } catch {} }")  # a page that is no site's has none
            if page != self.held:  # which comes last: until they are closed, the others may keep something again
                page.close()
        self.context.clear_cookies()
        self.context.set_offline(False)
        self.check()

    def close(self) -> None:
        """Ends the context. Raises AssertionError where something left the machine or went wrong in JavaScript."""
        self.context.close()
        self.check()

    def check(self) -> None:
        outside, errors = self.outside, self.errors
        self.outside, self.errors = [], []
        assert not outside, f"The page asked the outside world: {outside}"
        assert not errors, f"Uncaught in the page's JavaScript: {errors}"


@dataclass
class Server:
    url: str
    process: subprocess.Popen[bytes]
    seconds: float  # from the start of the process until it answered
    log: Path
    outside: Path  # a line for each connection that the server process tried to make beyond this machine


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def serve(
    script: Path = ROOT / "app.py", *options: str, patience: float = 90.0, below: str = "", port: int = 0
) -> Iterator[Server]:
    """`serve_by` of `streamlit run script`, in the project's folder."""
    flags = ["--server.port={port}", "--server.headless=true", *options]
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    with serve_by(command, *flags, patience=patience, below=below, port=port) as server:
        yield server


@contextmanager
def serve_by(
    command: list[str], *flags: str, folder: Path = ROOT, patience: float = 90.0, below: str = "", port: int = 0
) -> Iterator[Server]:
    """Runs a command that serves the app, from a folder, on that port, or else a free one, and with an empty home, until the
    block ends.

    "{port}" in a flag stands for the port; below: the base path that it is told of, such as "/lens".
    Raises RuntimeError with the end of the server's log where it does not answer within `patience` seconds, and AssertionError
    at the end where the server itself tried to reach the outside world.
    """
    with tempfile.TemporaryDirectory(prefix="headlight-") as of_its_own:
        home, port = Path(of_its_own), port or free_port()
        log, outside = home / "server.log", home / "outside.log"
        paths = [str(_WATCH), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {
            **os.environ,
            "HOME": of_its_own,
            "HF_HUB_OFFLINE": "1",
            "PYTHONPATH": os.pathsep.join(paths),
            "HEADLIGHT_OUTSIDE_LOG": str(outside),
        }
        command = [*command, *(flag.format(port=port) for flag in flags)]
        began = time.perf_counter()
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
        try:
            url = f"http://localhost:{port}"
            while not _healthy(url + below):
                if process.poll() is not None or time.perf_counter() - began > patience:
                    raise RuntimeError(f"Streamlit did not start:\n{log.read_text()[-4000:]}")
                time.sleep(0.02)
            yield Server(url, process, time.perf_counter() - began, log, outside)
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        reached = outside.read_text().split("\n")[:-1] if outside.exists() else []
        assert not reached, f"The server asked the outside world: {reached}"


def _healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2) as answer:
            return answer.status == 200
    except OSError:
        return False
