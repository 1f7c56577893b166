"""What the machine must offer before anything starts, each missing thing said in one sentence."""

from __future__ import annotations

import errno
import socket
import tempfile
from pathlib import Path

from doseflow.errors import EnvironmentUnfit


def require_free_port(host: str, port: int) -> None:
    """
    Check that a port can be opened.

    Raises
    ------
    EnvironmentUnfit
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                reason = f"port {port} on {host} is taken; stop what uses it, or choose another with PORT={port + 1}"
            elif error.errno == errno.EACCES:
                reason = f"port {port} needs more rights than you have; choose one above 1023, for example PORT=8080"
            else:
                reason = f"port {port} on {host} cannot be opened: {error.strerror}"
            raise EnvironmentUnfit(reason) from error


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
    return port


def require_writable_folder(folder: Path) -> None:
    """
    Make a folder and check that files can be written there.

    Raises
    ------
    EnvironmentUnfit
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        way_out = "run in another folder, or name one with --folder"
        raise EnvironmentUnfit(
            f"the folder {folder.absolute()} cannot be written ({error.strerror}); {way_out}"
        ) from error
