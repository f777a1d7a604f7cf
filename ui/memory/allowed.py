"""Decides which models visitors may open: in which folders, and whether from the Hub."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from models.adapting.strength import without_strength
from models.catalog import adapter_folder, ships
from models.errors import ModelError
from models.huggingface.gallery import gallery
from models.huggingface.hub import downloads
from models.huggingface.names import is_folder_name
from ui.memory import addresses, cached, limits, trainings

HERE_ONLY = ("localhost", "127.0.0.1", "::1")  # addresses that only this machine reaches
FROM_GALLERY = "gallery"  # in HEADLIGHT_HUB
PROXIES = ("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip")  # headers they add


def folders() -> tuple[Path, ...]:
    """Return the folders in which this visitor may open models, links resolved."""
    return roots(address=st.get_option("server.address") if sits_here() else None)


def sits_here() -> bool:
    """Return whether the visitor sits at this machine. Behind a proxy on this machine everybody seems to."""
    headers = st.context.headers
    return not any(name in headers for name in PROXIES) and st.context.ip_address in (None, *HERE_ONLY)  # None: this machine


def roots(environment: dict[str, str] | os._Environ = os.environ, address: str | None = None) -> tuple[Path, ...]:
    """Return the folders in which visitors who reach the server at an address may open models.

    HEADLIGHT_MODEL_DIRS names them, as PATH does. Unset: any folder when only this machine reaches the server, else none;
    and none on a public host, which a proxy on the same machine may stand before.
    """
    if (named := environment.get("HEADLIGHT_MODEL_DIRS")) is not None:
        return tuple(Path(folder).expanduser().resolve() for folder in named.split(os.pathsep) if folder)
    return (Path(Path.cwd().anchor),) if address in HERE_ONLY and not limits.is_public(environment) else ()


def hub() -> bool:
    """Return whether visitors may download any model from the Hub: not if HEADLIGHT_HUB is 0 or `gallery`, the default of a
    public host.
    """
    return downloads() and not only_the_gallery()


def only_the_gallery(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether visitors may download the models of the gallery and no others."""
    return environment.get("HEADLIGHT_HUB", FROM_GALLERY if limits.is_public(environment) else "").strip().lower() == FROM_GALLERY


def downloadable(name: str) -> bool:
    """Return whether visitors may download a model. name: owner/name, or owner/name@revision, which is never in the gallery."""
    return hub() or (only_the_gallery() and name in {entry.name for entry in gallery()})


def inside(folder: str, allowed: tuple[Path, ...]) -> bool:
    """Return whether a folder, links and `..` resolved, is one of these or within one; it need not exist."""
    try:
        real = Path(folder).expanduser().resolve()
    except (OSError, RuntimeError, ValueError):  # a circle of links, a home that is not known, a null character
        return False
    return any(real.is_relative_to(root) for root in allowed)


def refusal(name: str, here: bool) -> str:
    """Return the reason why a visitor may not open a model; "" when they may. here: whether it is in memory."""
    try:
        if trainings.NAMED.fullmatch(name):
            trainings.check(name)
        elif is_folder_name(name):
            check_folder(name)
            check_base(name)
        elif not ships(name):
            check_hub(name)
        if not ships(name) and not here:
            check_share(name)
    except ModelError as error:
        return str(error)
    return ""


def check_folder(folder: str) -> None:
    """Raise ModelError when visitors may not open a folder; the error does not tell whether it exists."""
    if not inside(folder, folders()):
        raise ModelError(
            "Folders in that place cannot be opened here. Choose one of the models listed, or ask whoever runs this server."
        )


def check_base(name: str) -> None:
    """Raise ModelError when a folder holds an adapter and visitors may not open the model that it was made for."""
    if not (adapter := adapter_folder(name)):
        return
    from models.adapting.folder import base_of

    base = base_of(adapter)
    if is_folder_name(base):
        check_folder(base)
    elif not ships(base):
        check_hub(base)


def check_hub(name: str) -> None:
    """Raise ModelError when the model would have to be downloaded and downloads are switched off."""
    if downloadable(name) or name.partition("@")[0] in cached.names():
        return
    if only_the_gallery():
        raise ModelError(
            "This server downloads only the models of its gallery. Choose one of those, or one of the models listed."
        )
    raise ModelError("This server downloads no models, and it does not have this one. Choose one of the models listed.")


CLASS = 10  # times as many models as one visitor has had, all those of a network may have had: a class may share one
_brought, _brought_near = limits.RecentUse(), limits.RecentUse()  # into memory, by visitor and by network


def check_share(name: str) -> None:
    """Raise ModelError when this visitor has loaded as many models within an hour as one visitor may, or their network ten times
    as many. Models that were trained here do not count.

    A visitor is a browser, or a network where it takes no cookie."""
    network, most = addresses.mine(), limits.most(limits.MODELS)
    if not trainings.NAMED.fullmatch(name) and not _brought_near.take(network, name, CLASS * most):
        raise ModelError(
            f"Your network has had {CLASS * most:.0f} models loaded within an hour, and this server loads no more for it. "
            "Choose one that ships with Headlight, or try again later."
        )
    if not _brought.take(trainings.browser() or network, without_strength(name), most):
        raise ModelError(
            f"You have had {most:.0f} models loaded within an hour, and this server loads no more for one visitor. "
            "Choose one that ships with Headlight, or try again later."
        )
