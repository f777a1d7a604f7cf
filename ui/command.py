"""The command `headlight`, which starts the app; in its folder `make app` starts it by the same lines."""

from __future__ import annotations

import argparse
import errno
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from models.version import VERSION

APP = Path(__file__).parents[1] / "app.py"
MOST = 64  # processes
HERE_ONLY, EVERYWHERE = "localhost", ("0.0.0.0", "::")


def parser() -> argparse.ArgumentParser:
    about = "See what a transformer sees: at every key press its tokens, its predictions, and where each head looks."
    argument_parser = argparse.ArgumentParser("headlight", description=about)
    argument_parser.add_argument("--port", type=port, default=8501, help="where the app answers (8501)")
    argument_parser.add_argument("--host", default=HERE_ONLY, help="0.0.0.0 lets other machines in (localhost: only this one)")
    argument_parser.add_argument(
        "--models",
        type=folder,
        action="append",
        metavar="FOLDER",
        default=[],
        help="a folder whose models visitors may open; several times for several folders (as in HEADLIGHT_MODEL_DIRS)",
    )
    argument_parser.add_argument(
        "--open", action=argparse.BooleanOptionalAction, help="open the app in a browser, or do not (where there is a screen)"
    )
    argument_parser.add_argument(
        "--processes",
        type=processes,
        default=1,
        metavar="N",
        help="so many servers behind that port, each with visitors of its own, for more people at once (1)",
    )
    argument_parser.add_argument("--version", action="version", version=f"headlight {VERSION}")
    return argument_parser


def port(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or not 0 < int(text) < 65536:
        raise argparse.ArgumentTypeError(f"{text} is not a port: choose a number from 1 to 65535, such as 8600.")
    return int(text)


def processes(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or not 0 < int(text) <= MOST:
        raise argparse.ArgumentTypeError(f"{text} is no number of processes: choose one from 1 to {MOST}, such as 2.")
    return int(text)


def folder(text: str) -> Path:
    if not (path := Path(text).expanduser().resolve()).is_dir():
        raise argparse.ArgumentTypeError(f"{text} is not a folder here.")
    return path


def complaint(host: str, port: int) -> str:
    """Return a sentence on why the app cannot listen at an address; "" where it can."""
    try:
        family, kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
        return ""
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            other = port + 1 if port < 65535 else 8501
            return f"Port {port} is busy: another program, perhaps another Headlight, is using it. Try port {other}."
        return f"Headlight cannot listen on {host}:{port} ({error.strerror}). Try another port or host."


def in_the_room(port: int) -> list[str]:
    """Return the addresses by which other machines reach this one, as far as it knows them."""
    import psutil

    addresses = [
        entry.address for entries in psutil.net_if_addrs().values() for entry in entries if entry.family == socket.AF_INET
    ]
    return [f"http://{address}:{port}" for address in addresses if not address.startswith("127.")]


def has_screen() -> bool:
    """Return whether this machine has a screen for a browser, as Streamlit decides it."""
    wants_browser = os.environ.get("STREAMLIT_SERVER_HEADLESS", "").lower() != "true"
    return wants_browser and (sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY")))


def main(arguments: Sequence[str] | None = None) -> None:
    """Start the app, and stay until it ends."""
    options = parser().parse_args(arguments)
    if sentence := complaint(options.host, options.port):
        sys.exit(sentence)
    if options.models:
        os.environ["HEADLIGHT_MODEL_DIRS"] = os.pathsep.join(map(str, options.models))
    for address in in_the_room(options.port) if options.host in EVERYWHERE else ():
        print(f"  In the room: {address}", flush=True)
    if options.processes > 1:
        from ui.processes import supervise

        return supervise.run(
            options.host, options.port, options.processes, has_screen() if options.open is None else options.open
        )
    flags = [f"--server.port={options.port}", f"--server.address={options.host}"]
    if options.open is not None:
        flags.append(f"--server.headless={str(not options.open).lower()}")
    from streamlit.web import cli

    sys.argv[:] = ["streamlit", "run", str(APP), *flags]
    cli.main()


if __name__ == "__main__":
    main()
