"""free_port HOST PORT: ends with one sentence, and non-zero, if Headlight could not listen there."""

import errno
import socket
import sys

host, port = sys.argv[1:]
if not (port.isascii() and port.isdecimal()) or not 0 < int(port) < 65536:
    sys.exit(f"PORT={port} is not a port: choose a number from 1 to 65535, such as make app PORT=8600.")
try:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, int(port)))
except OSError as error:
    if error.errno == errno.EADDRINUSE:
        sys.exit(
            f"Port {port} is busy: another program, perhaps another Headlight, is using it. Try make app PORT={int(port) + 1}."
        )
    sys.exit(f"Headlight cannot listen on {host}:{port} ({error.strerror}). Try make app with another PORT or HOST.")
