"""Models from the Hub, against a server of our own on this machine that speaks as much of the Hub's language as is needed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import torch
from huggingface_hub import close_session, constants

from models.errors import Cancelled, ModelError
from models.huggingface import confined, memory
from models.huggingface.hub import cached_models
from models.huggingface.open import open_model, open_vocabulary
from models.huggingface.text import TextTokens
from tests.models import chatting
from tests.models.networks import network, tokenizer
from tests.serving import ROOT

IDS = torch.tensor([[5, 9, 40]])


class Hub(ThreadingHTTPServer):
    """Repositories by name: folders by revision. `refuse` answers a repository with a status and headers, or only its files."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.repositories: dict[str, dict[str, Path]] = {}
        self.refuse: dict[str, tuple[int, dict[str, str], bool]] = {}
        self.asked: list[str] = []
        self.sent: dict[str, int] = {}  # bytes by the name of the file
        self.pause = 0.0  # seconds between pieces of a file
        self.stop_after: int | None = None  # bytes of a file after which the connection breaks

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


def commit(folder: Path) -> str:
    return sha256(str(folder).encode()).hexdigest()[:40]


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Hub

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        path = urlsplit(self.path).path.removeprefix("/").replace("%2F", "/")
        path_asked = path.removeprefix("api/models/")
        name = next((name for name in self.server.repositories | self.server.refuse if path_asked.startswith(name)), None)
        if name is None:
            return self.say(401, b"{}", {"X-Error-Message": "Invalid username or password."})
        if name in self.server.refuse:
            status, headers, everything = self.server.refuse[name]
            if everything or "/resolve/" in path:
                return self.say(status, b"{}", headers)
        revisions = self.server.repositories[name]
        rest = path_asked.removeprefix(name).strip("/")
        if path.startswith("api/"):
            revision = rest.removeprefix("revision/") or "main"
            if revision not in revisions:
                return self.say(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
            folder = revisions[revision]
            files = [file for file in folder.rglob("*") if file.is_file()]
            files = [{"rfilename": str(file.relative_to(folder)), "size": file.stat().st_size} for file in files]
            about = {"id": name, "modelId": name, "sha": commit(folder), "siblings": files, "tags": [], "downloads": 0}
            return self.say(200, json.dumps(about).encode())
        _, revision, file = rest.split("/", 2)
        folder = next(folder for key, folder in revisions.items() if revision in (key, commit(folder)))
        content = (folder / file).read_bytes()
        headers = {"ETag": f'"{sha256(content).hexdigest()}"', "X-Repo-Commit": commit(folder), "Accept-Ranges": "bytes"}
        start = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").split("-")[0])
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        self.say(206 if start else 200, content[start:], headers, file)

    def say(self, status: int, body: bytes, headers: dict[str, str] | None = None, file: str = "") -> None:
        self.send_response(status)
        for key, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        for start in range(0, len(body), 20_000):
            if file and self.server.stop_after is not None and self.server.sent.get(file, 0) >= self.server.stop_after:
                self.close_connection = True
                return
            piece = body[start : start + 20_000]
            try:
                self.wfile.write(piece)
                self.wfile.flush()
            except OSError:
                return
            if file:
                self.server.sent[file] = self.server.sent.get(file, 0) + len(piece)
                time.sleep(self.server.pause)

    def log_message(self, *about) -> None:
        pass


def save(folder: Path, name: str = "Llama, grouped-query", kind: str = "decoder") -> Path:
    network(name).save_pretrained(folder)
    tokenizer(kind).save_pretrained(folder)
    for other in ("pytorch_model.bin", "tf_model.h5", "onnx/model.onnx", "onnx/model.safetensors", "README.md", "run.py"):
        (folder / other).parent.mkdir(exist_ok=True)
        (folder / other).write_bytes(b"\x80 never asked for")
    return folder


@pytest.fixture
def hub(tmp_path, monkeypatch) -> Iterator[Hub]:
    server = Hub()
    server.repositories["owner/llama"] = {"main": save(tmp_path / "first"), "v2": save(tmp_path / "second", "GPT-2")}
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr(constants, "ENDPOINT", server.address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", server.address + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "no token"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 20_000)
    close_session()
    yield server
    downloads_ended()
    server.shutdown()
    server.server_close()
    close_session()


def downloads_ended() -> None:
    """Wait for the downloads that were cancelled: each ends at its next piece."""
    for thread in threading.enumerate():
        if thread.name == "headlight-hub":
            thread.join(20)
            assert not thread.is_alive(), "a cancelled download goes on"


def refusal(name: str, **choices) -> str:
    with pytest.raises(ModelError) as caught:
        open_model(name, **choices)
    message = str(caught.value)
    assert message.isprintable() and len(message) < 400 and "http://" not in message
    return message


def same(opened, name: str) -> None:
    torch.testing.assert_close(opened.network(IDS).logits, network(name)(IDS).logits)


def test_a_name_becomes_the_network_that_was_uploaded(hub):
    reports = []
    opened = open_model("owner/llama", report=reports.append)
    same(opened, "Llama, grouped-query")
    first = hub.repositories["owner/llama"]["main"]
    assert opened.source == f"Hugging Face Hub, revision {commit(first)[:7]}"
    loading = [progress for progress in reports if progress.stage == "download"]
    tokens = [file for file in first.iterdir() if "token" in file.name]
    size = sum(file.stat().st_size for file in [first / "model.safetensors", first / "generation_config.json", *tokens])
    assert {progress.total for progress in loading} == {size} and loading[-1].done == size
    assert [progress.done for progress in loading] == sorted(progress.done for progress in loading)
    stages = list(dict.fromkeys(progress.stage for progress in reports))
    assert stages == ["prepare", "download", "read"] and reports[-1].stage == "prepare"


def test_only_what_is_needed_is_fetched(hub):
    open_model("owner/llama")
    files = set(hub.sent)
    assert "model.safetensors" in files and "config.json" in files
    assert all("owner/llama" in path for path in hub.asked)
    assert not [file for file in files if file.endswith((".bin", ".h5", ".onnx", ".py", ".md")) or "/" in file]


def test_of_a_tokenizer_alone_no_weight_is_fetched_or_needed(hub, monkeypatch):
    vocabulary = open_vocabulary("owner/llama")
    assert set(hub.sent) >= {"config.json", "tokenizer.json"} and not [name for name in hub.sent if "safetensors" in name]
    first = hub.repositories["owner/llama"]["main"]
    assert vocabulary.tokens("The cat sat") == TextTokens(open_model(str(first)).tokenizer).tokens("The cat sat")
    (first / "model.safetensors").unlink()
    assert open_vocabulary(str(first)).tokens("The cat sat") == vocabulary.tokens("The cat sat")
    assert cached_models() == (), "a model without its weights is not one that can be opened"
    with pytest.raises(ModelError, match="There is no folder"):
        open_vocabulary(str(first / "nothing"))
    monkeypatch.setenv("HEADLIGHT_HUB", "0")
    with pytest.raises(ModelError, match="switched off"):
        open_vocabulary("owner/llama")


def test_a_chat_template_beside_the_tokenizer_comes_with_it(hub, tmp_path):
    folder = Path(chatting.save(tmp_path / "chat"))
    template = folder / "chat_template.jinja"
    assert template.read_text() == chatting.CHATML, "the library writes the template to a file of its own"
    hub.repositories["owner/chat"] = {"main": folder}
    for opened in (open_model("owner/chat").tokenizer, open_vocabulary("owner/chat").tokenizer):
        assert opened.chat_template == chatting.CHATML
    names = {file.name for file in folder.iterdir() if file.suffix in (".json", ".jinja")}
    assert names <= set(hub.sent), "all that the library reads of the folder is fetched"


def test_a_folder_asks_nobody(hub):
    same(open_model(str(hub.repositories["owner/llama"]["main"])), "Llama, grouped-query")
    assert not hub.asked


def test_nothing_is_fetched_twice(hub):
    open_model("owner/llama")
    before = dict(hub.sent)
    same(open_model("owner/llama"), "Llama, grouped-query")
    assert hub.sent == before


def test_a_revision(hub):
    same(open_model("owner/llama@v2"), "GPT-2")
    same(open_model("owner/llama"), "Llama, grouped-query")
    assert "no revision “v3”" in refusal("owner/llama@v3")


def test_without_network_the_cache_will_do(hub, monkeypatch):
    open_model("owner/llama@v2")
    open_model("owner/llama")
    assert cached_models() == ("owner/llama",)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    hub.sent.clear()
    same(open_model("owner/llama"), "Llama, grouped-query")
    same(open_model("owner/llama@v2"), "GPT-2")
    assert not hub.sent
    message = refusal("owner/other@v9")
    assert "HF_HUB_OFFLINE" in message and "hf download owner/other --revision v9 --local-dir" in message


def test_where_downloads_are_switched_off_the_hub_is_never_asked(hub, monkeypatch):
    """Neither for what is in the cache, at any of its names, nor for what is not; and the access token stays here."""
    open_model("owner/llama@v2")
    open_model("owner/llama")
    monkeypatch.setenv("HEADLIGHT_HUB", "0")
    monkeypatch.setenv("HF_TOKEN", "secret")
    hub.repositories["owner/other"] = hub.repositories["owner/llama"]
    hub.repositories["llama"] = hub.repositories["owner/llama"]
    hub.repositories["owner/llama"]["v3"] = save(hub.repositories["owner/llama"]["main"].parent / "third", "BLOOM")
    hub.asked.clear()
    same(open_model("owner/llama"), "Llama, grouped-query")
    same(open_model("owner/llama@v2"), "GPT-2")
    same(open_model(f"owner/llama@{commit(hub.repositories['owner/llama']['v2'])}"), "GPT-2")
    for absent in ("owner/llama@v3", "owner/llama@" + "a" * 40, "owner/other", "owner/other@main", "llama", "llama@v2"):
        assert "Downloads are switched off here" in refusal(absent)
    assert cached_models() == ("owner/llama",)
    assert not hub.asked


def test_a_network_that_is_down(hub):
    open_model("owner/llama")
    hub.shutdown()
    hub.server_close()
    close_session()  # with the connections that are still open
    same(open_model("owner/llama"), "Llama, grouped-query")
    message = refusal("owner/other")
    assert "cannot be reached" in message and "hf download owner/other --local-dir" in message


def test_a_hub_that_is_down(hub):
    open_model("owner/llama")
    hub.refuse["owner/llama"] = (503, {}, True)
    same(open_model("owner/llama"), "Llama, grouped-query")


def test_an_upload_that_cannot_be_fetched_leaves_the_last_one(hub, tmp_path):
    """Who is offline later finds the last complete one, not the beginning of a newer one."""
    open_model("owner/llama")
    hub.repositories["owner/llama"]["main"] = save(tmp_path / "third", "BLOOM")

    def report(progress):
        if progress.stage == "download":
            raise Cancelled

    with pytest.raises(Cancelled):
        open_model("owner/llama", report=report)
    downloads_ended()
    hub.refuse["owner/llama"] = (503, {}, True)
    same(open_model("owner/llama"), "Llama, grouped-query")


@pytest.mark.parametrize(
    ("status", "headers", "everything", "words"),
    [
        (404, {"X-Error-Code": "RepoNotFound"}, True, "has no model “owner/other” that you may see"),
        (401, {"X-Error-Message": "Invalid username or password."}, True, "has no model “owner/other” that you may see"),
        (401, {"X-Error-Message": "Invalid credentials in Authorization header"}, True, "does not accept your access token"),
        (403, {"X-Error-Code": "GatedRepo"}, True, "is gated"),
        (403, {"X-Error-Code": "GatedRepo"}, False, "is gated"),
        (401, {"X-Error-Code": "GatedRepo"}, False, "is gated"),
        (403, {}, True, "does not let you read"),
        (403, {"X-Error-Message": "Access to this resource is disabled."}, True, "has been disabled"),
        (418, {}, True, "error 418"),
    ],
)
def test_what_the_hub_refuses(hub, status, headers, everything, words):
    hub.repositories["owner/other"] = hub.repositories["owner/llama"]
    hub.refuse["owner/other"] = (status, headers, everything)
    assert words in refusal("owner/other")


def test_a_name_that_nobody_has(hub):
    assert "no model “owner/nobody”" in refusal("owner/nobody")


def test_a_download_that_is_cancelled_stops_and_goes_on_later(hub):
    hub.pause = 0.1
    size = (hub.repositories["owner/llama"]["main"] / "model.safetensors").stat().st_size

    def report(progress):
        if hub.sent.get("model.safetensors", 0) > size / 3:
            raise Cancelled

    with pytest.raises(Cancelled):
        open_model("owner/llama", report=report)
    assert cached_models() == ()
    downloads_ended()
    assert hub.sent["model.safetensors"] < size
    hub.pause = 0
    same(open_model("owner/llama"), "Llama, grouped-query")


def test_a_connection_that_breaks(hub, monkeypatch):
    monkeypatch.setattr("huggingface_hub.file_download.time.sleep", lambda seconds: None)
    hub.stop_after = 50_000
    assert "broke off" in refusal("owner/llama")
    hub.stop_after = None
    same(open_model("owner/llama"), "Llama, grouped-query")


def test_two_people_ask_for_one_model(hub):
    opened = []
    threads = [threading.Thread(target=lambda: opened.append(open_model("owner/llama"))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(opened) == 3
    for each in opened:
        same(each, "Llama, grouped-query")


# Refused before the weights are fetched


def looks_at(hub: Hub, change) -> str:
    change(hub.repositories["owner/llama"]["main"])
    message = refusal("owner/llama")
    assert not [file for file in hub.sent if file.endswith(".safetensors")], "no weights are fetched for a model that is refused"
    return message


def set_config(folder: Path, **settings) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | settings))


def test_what_cannot_be_opened_is_not_downloaded(hub):
    assert "only as “pytorch_model.bin”" in looks_at(hub, lambda folder: (folder / "model.safetensors").unlink())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"model_type": "vit"}, "reads images, and holds no preprocessor_config.json"),
        ({"model_type": "detr"}, "a vision model"),
        ({"model_type": "new", "auto_map": {"AutoModel": "run.Model"}}, "its own Python code"),
        ({"quantization_config": {"quant_method": "awq"}}, "quantised"),
        ({"hidden_size": 65536, "intermediate_size": 10**6, "dtype": "bfloat16"}, "billion parameters"),
    ],
)
def test_what_the_config_tells_is_enough(hub, settings, words):
    assert words in looks_at(hub, lambda folder: set_config(folder, **settings))


@pytest.mark.thorough
def test_a_config_of_the_hub_that_asks_for_gigabytes(hub, monkeypatch):
    monkeypatch.setattr(confined, "MEMORY", 100_000_000)
    settings = {"model_type": "xlm", "sinusoidal_embeddings": True, "max_position_embeddings": 10**8}
    assert "asks for more than 100 MB of memory" in looks_at(hub, lambda folder: set_config(folder, **settings))


def test_no_tokenizer(hub):
    assert "no tokenizer" in looks_at(hub, lambda folder: [file.unlink() for file in folder.glob("tokenizer*")])


def test_a_missing_shard(hub):
    def shard(folder):
        shutil.move(folder / "model.safetensors", folder / "model-1.safetensors")
        index = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))

    assert "“model-2.safetensors” is missing" in looks_at(hub, shard)


def test_a_disk_that_is_full(hub, monkeypatch):
    monkeypatch.setattr(memory.shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(10**9, 10**9, 1000))
    assert "the disk with the cache has 1 kB free" in looks_at(hub, lambda folder: None)


# The cache


def test_the_cache_lists_what_can_be_opened(hub, tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "other cache"))
    assert cached_models() == ()
    for name, change in {
        "whole": lambda folder: None,
        "vision": lambda folder: set_config(folder, vision_config={}),
        "quantised": lambda folder: set_config(folder, quantization_config={}),
        "no-config": lambda folder: (folder / "config.json").unlink(),
        "cut": lambda folder: os.truncate(folder / "model.safetensors", 1000),
        "no-tokens": lambda folder: [file.unlink() for file in folder.glob("tokenizer*")],
    }.items():
        cached = tmp_path / "other cache" / f"models--me--{name}"
        folder = Path(shutil.copytree(hub.repositories["owner/llama"]["main"], cached / "snapshots" / ("a" * 40)))
        (cached / "refs").mkdir()
        (cached / "refs" / "main").write_text("a" * 40)
        change(folder)
    assert cached_models() == ("me/whole",)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    same(open_model("me/whole"), "Llama, grouped-query")
    same(open_model("me/whole@" + "a" * 40), "Llama, grouped-query")
    assert "not wholly, in this machine’s cache" in refusal("me/cut")


def test_looking_into_the_cache_is_light():
    check = "import sys; from models.huggingface.hub import cached_models; cached_models(); print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", check], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "models.huggingface.hub" in modules.split() and not {"torch", "transformers"} & set(modules.split())
