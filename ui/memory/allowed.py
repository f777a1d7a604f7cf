"""Which models visitors may open: which folders of this machine, and whether the Hub."""

from __future__ import annotations

import os
from pathlib import Path

import streamlit as st

from models.errors import ModelError
from models.huggingface.hub import downloads
from ui.memory import cached

HERE_ONLY = ("localhost", "127.0.0.1", "::1")  # addresses that only this machine reaches
PROXIES = ("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip")  # headers they add


def folders() -> tuple[Path, ...]:
    """The folders in which this visitor may open models, links resolved."""
    return roots(address=st.get_option("server.address") if sits_here() else None)


def sits_here() -> bool:
    """Whether the visitor sits at this machine: a proxy beside the server makes everybody look as if they did, but says so."""
    headers = st.context.headers
    return not any(name in headers for name in PROXIES) and st.context.ip_address in (None, *HERE_ONLY)  # None: this machine


def roots(environment: dict[str, str] | os._Environ = os.environ, address: str | None = None) -> tuple[Path, ...]:
    """The folders in which visitors who reach the server at an address may open models.

    HEADLIGHT_MODEL_DIRS names them, as PATH does. Unset: any folder when only this machine reaches the server, else none.
    """
    if (named := environment.get("HEADLIGHT_MODEL_DIRS")) is not None:
        return tuple(Path(folder).expanduser().resolve() for folder in named.split(os.pathsep) if folder)
    return (Path(Path.cwd().anchor),) if address in HERE_ONLY else ()


def hub() -> bool:
    """Whether visitors may download models from the Hub: unless HEADLIGHT_HUB=0."""
    return downloads()


def inside(folder: str, allowed: tuple[Path, ...]) -> bool:
    """Whether a folder, links and `..` resolved, is one of these or within one; it need not exist."""
    try:
        real = Path(folder).expanduser().resolve()
    except (OSError, RuntimeError, ValueError):  # a circle of links, a home that is not known, a null character
        return False
    return any(real.is_relative_to(root) for root in allowed)


def check_folder(folder: str) -> None:
    """Errors: ModelError when visitors may not open that folder, the same whether or not it exists."""
    if not inside(folder, folders()):
        raise ModelError(
            "Folders in that place cannot be opened here. Choose one of the models listed, or ask whoever runs this server."
        )


def check_hub(name: str) -> None:
    """Errors: ModelError when the model would have to be downloaded and that is switched off."""
    if not hub() and name.partition("@")[0] not in cached.names():
        raise ModelError("This server downloads no models, and this one is not on it. Choose one of the models listed.")
