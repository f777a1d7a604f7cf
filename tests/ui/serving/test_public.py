"""A public host: what one visitor may take, what the log does not hold, and what those who look after the server are told."""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections import OrderedDict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families
from websockets.exceptions import InvalidStatus

from benchmarks.protocol import Visitor
from benchmarks.reading import drawn
from models.errors import ModelError
from models.huggingface.gallery import gallery
from tests.serving import ROOT, Server, serve
from ui.memory import addresses, allowed, cached, limits, measured, trainings
from ui.memory.jobs import Jobs, TooMuch
from ui.serving import assets, flood, headers
from ui.serving.flood import Bucket, Flood

SECRET = "heliotropeXsecretXmarmalade"
ON = {"HEADLIGHT_PUBLIC": "1"}


# ---------------------------------------------------------------- bounds


def test_at_home_nothing_is_bounded_and_in_public_everything():
    assert all(math.isinf(limits.most(name, {})) for name in limits.ON_A_PUBLIC_HOST)
    assert all(0 < limits.most(name, ON) < math.inf for name in limits.ON_A_PUBLIC_HOST)
    assert all(limits.most(name, {name: "7"}) == limits.most(name, {**ON, name: "7"}) == 7 for name in limits.ON_A_PUBLIC_HOST)


@pytest.mark.parametrize("given", ["lots", "-1", "1e9", "∞", "³"])
def test_a_setting_that_is_no_number_never_opens_the_door(given):
    assert limits.most(limits.TEXT, {limits.TEXT: given}) == limits.ON_A_PUBLIC_HOST[limits.TEXT]


def test_in_public_no_folder_opens_even_where_only_a_proxy_reaches_the_server():
    assert allowed.roots({}, "localhost") and not allowed.roots(ON, "localhost")
    assert len(allowed.roots({**ON, "HEADLIGHT_MODEL_DIRS": "/models"}, "localhost")) == 1


@pytest.mark.parametrize("settings", [{"HEADLIGHT_PUBLIC": "1"}, {"HEADLIGHT_HUB": "gallery"}])
def test_only_the_models_of_the_gallery_are_downloaded(monkeypatch, settings):
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(cached, "names", lambda fresh=0.0: ("owner/here",))
    for name in (gallery()[0].name, "owner/here", "owner/here@main"):
        allowed.check_hub(name)
    for name in ("owner/elsewhere", f"{gallery()[0].name}@other", gallery()[0].name.upper(), ""):
        with pytest.raises(ModelError, match="only the models of its gallery"):
            allowed.check_hub(name)


def test_a_visitor_brings_so_many_models_into_memory_an_hour():
    now = [0.0]
    counted = limits.RecentUse(visitors=2, clock=lambda: now[0])
    assert counted.take("ann", "a", 2) and counted.take("ann", "b", 2) and counted.take("ann", "a", 2)
    assert not counted.take("ann", "c", 2) and counted.take("bob", "c", 2)
    now[0] = limits.HOUR + 1
    assert counted.take("ann", "c", 2)
    assert not counted.take("nobody", "a", 0)


def test_a_browser_without_cookies_counts_by_its_address(monkeypatch):
    monkeypatch.setenv(limits.MODELS, "1")
    monkeypatch.setattr(allowed, "_brought", limits.RecentUse())
    monkeypatch.setattr(trainings, "browser", lambda: "")
    monkeypatch.setattr(allowed, "_brought_near", limits.RecentUse())
    where = ["203.0.113.7"]
    monkeypatch.setattr(addresses, "mine", lambda: where[0])
    allowed.check_share("owner/one")
    with pytest.raises(ModelError, match="loaded within an hour"):
        allowed.check_share("owner/two")
    where[0] = "203.0.113.8"
    allowed.check_share("owner/two")


def test_whoever_invents_cookies_has_so_many_models_loaded_by_their_network(monkeypatch):
    monkeypatch.setenv(limits.MODELS, "3")
    monkeypatch.setattr(allowed, "_brought", limits.RecentUse())
    monkeypatch.setattr(allowed, "_brought_near", limits.RecentUse())
    number, loaded = 0, 0
    monkeypatch.setattr(trainings, "browser", lambda: f"cookie {number}")
    monkeypatch.setattr(addresses, "mine", lambda: "attacker")
    for number in range(100):
        try:
            allowed.check_share(f"owner/{number}")
            loaded += 1
        except ModelError as error:
            assert "Your network has had 30 models loaded" in str(error)
    assert loaded == 3 * allowed.CLASS
    for number in range(60):
        allowed.check_share(f"copy, {number} steps ({number:032x})")
    monkeypatch.setattr(addresses, "mine", lambda: "home")
    allowed.check_share("owner/99")


def test_a_page_waits_for_so_many_calculations_and_others_go_on(monkeypatch):
    monkeypatch.setenv(limits.JOBS, "2")
    hold, jobs = threading.Event(), Jobs(threads=1)

    def work(report):
        hold.wait(20)
        return 1

    first = jobs.ask("a", work, "Doing", "ann")
    jobs.ask("b", work, "Doing", "ann")
    with pytest.raises(TooMuch, match="at most 2"):
        jobs.ask("c", work, "Doing", "ann")
    assert jobs.ask("a", work, "Doing", "ann") is first, "what somebody waits for they may look at again"
    third = jobs.ask("c", work, "Doing", "bob")
    assert jobs.under_way()[1] == 1 and sum(jobs.under_way()) == 3
    jobs.leave("b", "ann")
    jobs.ask("d", work, "Doing", "ann")
    hold.set()
    assert third.ended.wait(20) and first.value == 1


def test_a_browser_runs_so_many_trainings(monkeypatch):
    monkeypatch.setenv(limits.TRAININGS, "1")
    monkeypatch.setattr(trainings, "_owned", OrderedDict())
    who = ["ann"]
    monkeypatch.setattr(trainings, "browser", lambda: who[0])
    running, over = SimpleNamespace(state="running", memory=0), SimpleNamespace(state="done", stop=lambda: None, memory=0)
    trainings.keep("one", over)
    trainings.keep("two", running)
    with pytest.raises(trainings.Full, match="at most 1 of your"):
        trainings.keep("three", running)
    who[0] = "bob"
    trainings.keep("four", running)


@given(st.lists(st.floats(0, 0.2), min_size=40, max_size=120), st.floats(1, 50))
def test_what_comes_too_fast_waits_so_that_the_rate_holds(pauses, rate):
    """After the first `full` presses, none is let through sooner than one every 1 / rate seconds."""
    now, full, let = [0.0], 10, []
    bucket = Bucket(rate, full, lambda: now[0])
    for pause in pauses:
        now[0] += pause
        now[0] += bucket.take()
        let.append(now[0])
    for start in range(len(let)):
        for end in range(start + 1, len(let)):
            assert end - start <= full + 1 + (let[end] - let[start]) * rate + 1e-6


def test_more_pages_than_an_address_may_have_get_a_sentence(monkeypatch):
    monkeypatch.setenv(limits.PAGES, "1")
    monkeypatch.setattr(flood, "pages", flood.Counter())

    async def story() -> list[dict]:
        arrived, leave, sent = asyncio.Event(), asyncio.Event(), []

        async def app(scope, receive, send) -> None:
            arrived.set()
            await leave.wait()

        async def receive() -> dict:
            return {"type": "websocket.connect"}

        async def send(message) -> None:
            sent.append(message)

        doors, line = Flood(app), {"type": "websocket", "path": "/_stcore/stream", "client": ("203.0.113.7", 1), "headers": []}
        first = asyncio.create_task(doors(line, receive, send))
        await arrived.wait()
        await doors(line, receive, send)
        await doors({**line, "type": "http", "path": "/", "headers": [(b"accept", b"text/html")]}, receive, send)
        assert flood.pages.total() == 1
        leave.set()
        await first
        assert not flood.pages
        return sent

    with ThreadPoolExecutor(1) as thread:
        sentence = thread.submit(lambda: asyncio.run(story())).result()
    assert sentence[0] == {"type": "websocket.close", "code": 1013, "reason": ""}
    assert sentence[1]["status"] == 429 and "Close one" in sentence[2]["body"].decode()


# ---------------------------------------------------------------- headers


def test_frames_of_others_only_where_they_are_named():
    assert "frame-ancestors 'self'" in headers.others({})["Content-Security-Policy"]
    spaces = headers.others({"HEADLIGHT_FRAMES": "https://huggingface.co"})["Content-Security-Policy"]
    assert spaces.endswith("frame-ancestors 'self' https://huggingface.co")
    broken = headers.others({"HEADLIGHT_FRAMES": "*; script-src *"})["Content-Security-Policy"]
    assert broken.count("script-src ") == 2 and not re.search(r";\s*script-src \*", broken), "a setting adds no rule of its own"
    for host in re.findall(r"https?:|\bwss?:|\*", "; ".join(headers.POLICY)):
        raise AssertionError(f"{host} lets something out")


# ---------------------------------------------------------------- logs


WRITES = f"""
import logging
import streamlit.logger
from ui.serving import logs
logs.set_up()
for name in ("ui.show", "models.x", "streamlit.runtime", "uvicorn.error", "somebody.else", "root"):
    logger = streamlit.logger.get_logger(name) if name.startswith("streamlit") else logging.getLogger(name)
    try:
        raise ValueError("“{SECRET}” is no text")
    except ValueError:
        logger.error("%s could not be %s", "{SECRET}", "drawn", exc_info=True)
        logger.exception("One")
    if not name.startswith(logs.OURS):
        logger.warning("GET /?text={SECRET}")
"""


def test_the_log_holds_the_program_s_words_and_not_the_visitor_s():
    def written(**settings: str) -> str:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("HEADLIGHT")} | settings
        return subprocess.run(
            [sys.executable, "-c", WRITES], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
        ).stderr

    assert SECRET in written(), "else this test could not fail"
    log = written(HEADLIGHT_LOG="json")
    assert SECRET not in log
    lines = [json.loads(line) for line in log.splitlines()]
    assert [line["logger"] for line in lines[1:]].count("streamlit.runtime") == 3
    (drawn,) = [line for line in lines if line["logger"] == "ui.show" and line["event"] == "%s could not be %s"]
    assert drawn["error"] == "ValueError" and drawn["through"] == ["<string>:9 <module>"] and drawn["level"] == "error"


# ---------------------------------------------------------------- a server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**ON, "HEADLIGHT_METRICS": "1", "HEADLIGHT_PAGES": "3", "HF_TOKEN": f"hf_{SECRET}"}.items():
            patch.setenv(name, value)
        with serve(patience=90) as running:
            yield running


def got(address: str, **headers: str) -> tuple[int, str, dict[str, str]]:
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=20) as answer:
            return answer.status, answer.read().decode(), dict(answer.headers)
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode(), dict(refused.headers)


def test_a_visitor_of_a_public_host(server):
    """It becomes ready by being asked, a visitor types a secret, what is counted is counted, and no file knows the secret."""
    assert json.loads(got(f"{server.url}/health")[1])["status"] == "alive"

    async def story() -> list[str]:
        while got(f"{server.url}/ready")[0] != 200:
            await asyncio.sleep(0.2)
        async with Visitor(server.url, drawn, {"text": "The farmer"}) as visitor:
            await visitor.open()
            async with asyncio.timeout(60):
                for text in (SECRET, f"{SECRET} and more"):
                    await visitor.type(text)
                    while text not in visitor.tally.took:
                        await asyncio.sleep(0.05)
        for query in ({"text": SECRET, "model": f"owner/{SECRET}"}, {"text": SECRET, "model": f"/{SECRET}"}, {"level": SECRET}):
            async with Visitor(server.url, drawn, query) as visitor:
                await visitor.open()
        async with Visitor(server.url, drawn) as guest, Visitor(server.url, drawn), Visitor(server.url, drawn):
            await guest.open()
            with pytest.raises(InvalidStatus):
                async with Visitor(server.url, drawn):
                    pass
            assert got(server.url, Accept="text/html")[0] == 429
            return visitor.tally.errors

    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(lambda: asyncio.run(story())).result() == []
    status, text, sent = got(f"{server.url}/metrics")
    families = {family.name: family for family in text_string_to_metric_families(text)}
    presses = {
        sample.name: sample.value for sample in families["headlight_press_seconds"].samples if sample.labels.get("page") == "type"
    }
    assert status == 200 and presses["headlight_press_seconds_count"] >= 2
    assert families["headlight_models"].samples[0].value == 1 and families["headlight_visitors"].samples[0].value <= 3
    assert "connect-src 'self'" in sent["content-security-policy"] and sent["referrer-policy"] == "no-referrer"
    log = server.log.read_text("utf-8")
    assert SECRET not in log and SECRET not in text
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    assert any("has started" in line.get("event", "") for line in lines)


def test_below_a_base_path_all_routes_answer_there(monkeypatch):
    monkeypatch.setenv("STREAMLIT_SERVER_BASE_URL_PATH", "/lens/")
    with serve(below="/lens") as server:
        assert "export default" in got(f"{server.url}/lens/assets/{assets.version()}/head_view.js")[1]
        assert json.loads(got(f"{server.url}/lens/health")[1]) == json.loads(got(f"{server.url}/health")[1])


def test_metrics_are_given_only_where_they_are_asked_for(monkeypatch):
    assert measured.is_enabled({"HEADLIGHT_METRICS": "1"}) and not measured.is_enabled({}) and not measured.is_enabled(ON)
