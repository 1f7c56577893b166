from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b

import pytest

from doseflow.errors import EnvironmentUnfit, SettingsWrong
from doseflow.live.keyed_hash import open_keyed_hash


def test_the_key_is_made_once_for_its_owner_alone_and_the_hash_is_blake2b_with_it(tmp_path) -> None:
    path = tmp_path / "new" / "ids.key"
    first, second = open_keyed_hash(path), open_keyed_hash(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (
        first("a1") == second("a1") == blake2b(b"a1", key=bytes.fromhex(path.read_text()), digest_size=16).hexdigest()
    )
    assert open_keyed_hash(tmp_path / "other.key")("a1") != first("a1")


def test_processes_that_begin_at_once_get_one_whole_key(tmp_path) -> None:
    with ThreadPoolExecutor(8) as pool:
        hashes = list(pool.map(lambda _: open_keyed_hash(tmp_path / "ids.key")("x"), range(8)))
    assert len(set(hashes)) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["ids.key"]


@pytest.mark.parametrize("content", ["", "zz" * 32, "00" * 31])
def test_a_file_that_holds_no_key_is_refused(tmp_path, content: str) -> None:
    (tmp_path / "ids.key").write_text(content)
    with pytest.raises(SettingsWrong, match=r"appointments\.key_file: .* must hold 32 bytes"):
        open_keyed_hash(tmp_path / "ids.key")


def test_a_folder_in_the_keys_place_is_said_in_a_sentence(tmp_path) -> None:
    with pytest.raises(EnvironmentUnfit, match=r"appointments\.key_file"):
        open_keyed_hash(tmp_path)
