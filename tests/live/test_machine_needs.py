import os
import socket

import pytest

from doseflow.errors import EnvironmentUnfit
from doseflow.live.machine_needs import require_free_port, require_writable_folder


def test_a_taken_port_is_named_with_the_way_out():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(EnvironmentUnfit, match=f"port {port} on 127.0.0.1 is taken.*PORT={port + 1}"):
            require_free_port("127.0.0.1", port)


def test_a_free_port_is_left_free():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    require_free_port("127.0.0.1", port)
    require_free_port("127.0.0.1", port)


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    blocker = tmp_path / "file"
    blocker.write_text("not a folder")
    with pytest.raises(EnvironmentUnfit, match="cannot be written"):
        require_writable_folder(blocker / "var")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write into a read-only folder")
def test_a_read_only_folder_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(EnvironmentUnfit, match="cannot be written"):
        require_writable_folder(tmp_path / "var")


def test_a_missing_folder_is_made_and_left_empty(tmp_path):
    require_writable_folder(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []
