"""What docs/hosting.md, the Dockerfile and compose.yaml say is there, and fits together."""

from __future__ import annotations

import re
import subprocess

import pytest
import yaml

from tests.image import commands, last, left_out, program, settings
from tests.serving import ROOT
from ui.command import parser
from ui.memory import limits
from ui.serving import probes

HOSTING = (ROOT / "docs" / "hosting.md").read_text("utf-8")
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]["headlight"]
PYTHON = [file for folder in ("ui", "models", "pages") for file in (ROOT / folder).rglob("*.py")]


def test_the_image_is_built_from_named_versions_and_runs_as_nobody_special():
    images = [words.split()[0] for name, words in commands() if name == "FROM"]
    assert all(re.fullmatch(r"[\w/-]+:\d[\w.-]+", image) for image in images), "a base without a version changes by itself"
    assert len(set(images)) == 1, "what was compiled for one Python does not run in another"
    assert last("USER").isdecimal() and int(last("USER")) > 0
    assert not [words for name, words in commands() if name == "ADD" or "sudo" in words or "curl" in words]
    for name, words in commands():
        if name == "RUN" and "pip install" in words:
            assert words.count("pip install") == words.count("--no-cache-dir")


def test_what_is_copied_is_there():
    for name, words in commands():
        if name == "COPY" and not words.startswith("--from"):
            for source in words.split()[:-1]:
                assert (ROOT / source).exists() and not left_out(source), source
    assert left_out(".venv/bin/python") and left_out("tests/test_hosting.py") and left_out("models/__pycache__/x.pyc")
    assert not left_out("models/weights/writer/model.safetensors") and not left_out("bin/wheel/hook.py")


@pytest.mark.parametrize("asked", re.findall(r"\$\(([^()]+)\)", "\n".join(words for name, words in commands() if name == "RUN")))
def test_what_a_command_looks_up_is_one_pin(asked):
    completed = subprocess.run(asked, shell=True, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert re.fullmatch(r"[\w-]+==[\w.]+\n", completed)


def test_command_port_and_health_fit_together():
    command = program(last("CMD"))
    asked = parser().parse_args(command[1:])
    assert command[0] == "headlight" and asked.host == "0.0.0.0" and asked.open is False
    probe = program(last("HEALTHCHECK"))
    compile(probe[-1], "HEALTHCHECK", "exec")
    port, path = re.search(r"localhost:(\d+)(/\w+)", probe[-1]).groups()
    assert {int(port), int(last("EXPOSE"))} == {asked.port} and path in {route.path for route in probes.ROUTES}
    assert all(port_mapping.endswith(f":{port}") for port_mapping in COMPOSE["ports"])
    header = yaml.safe_load((ROOT / "bin" / "space" / "README.md").read_text("utf-8").split("---")[1])
    assert header["sdk"] == "docker" and header["app_port"] == asked.port


def test_the_image_can_serve_by_several_processes_as_the_guide_says():
    installs = " ".join(words for name, words in commands() if name == "RUN")
    assert "-r requirements-processes.txt" in installs, "the proxy before several processes"
    match = re.search(r"`command: headlight (.+)`", HOSTING)[1]
    usual = program(last("CMD"))[1:]
    assert match.split()[: len(usual)] == usual and parser().parse_args(match.split()).processes > 1


def test_nothing_is_written_but_where_there_is_a_mount():
    assert COMPOSE["read_only"] and COMPOSE["cap_drop"] == ["ALL"]
    mounts = {mount.split(":")[0] for mount in COMPOSE["tmpfs"]} | {mount.split(":")[1] for mount in COMPOSE["volumes"]}
    assert mounts == set(yaml.safe_load(last("VOLUME")))
    assert {settings()["HOME"], settings()["HF_HOME"]} <= mounts and settings()["PYTHONDONTWRITEBYTECODE"]


def test_every_setting_is_documented_and_is_read_somewhere():
    read = set(re.findall(r"\bHEADLIGHT_[A-Z_]+\b", "\n".join(file.read_text("utf-8") for file in PYTHON)))
    names = set(re.findall(r"\bHEADLIGHT_[A-Z_]+\b", HOSTING))
    given = {name for name in {**settings(), **COMPOSE["environment"]} if name.startswith("HEADLIGHT")}
    assert read == names and given <= read
    for name, most in limits.ON_A_PUBLIC_HOST.items():
        assert re.search(rf"`{name}` \| [^|]+ \| {most:,} \|", HOSTING), f"{name}: {most:,}"
