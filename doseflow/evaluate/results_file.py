"""The results of an evaluation as a file of JSON lines, one finished run a line, so that a stopped one can go on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path

import orjson

from doseflow.errors import InputWrong
from doseflow.evaluate.run import Row, RunKey

_ROW_BEGINS = b'{"planner":'


class ResultsFile:
    """
    Rows of finished runs.

    A row is written whole or not at all: what a killed process left of its last line is no row, and goes.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self, code: str, scenario_digests: Mapping[str, str], *, keep_old: bool = False) -> dict[RunKey, Row]:
        """
        Rows that are there, the last of each run.

        Parameters
        ----------
        code
            Digest of the code at hand; with `keep_old`, rows of other code count, never those of another scenario.

        Raises
        ------
        InputWrong
            A line is no row, or was made by other code or from another scenario.
        """
        rows: dict[RunKey, Row] = {}
        lines, whole_bytes = self._whole_lines()
        for line_no, line in enumerate(lines, start=1):
            row = _row(line, f"{self._path}, line {line_no}")
            known = scenario_digests.get(row["scenario"], row["scenario_digest"])
            if row["scenario_digest"] != known:
                raise InputWrong(
                    f"--results: line {line_no} of {self._path} was made by another scenario {row['scenario']},"
                    f" or with another --param; {self._way_out()}"
                )
            if not keep_old and row["code_digest"] != code:
                raise InputWrong(
                    f"--results: line {line_no} of {self._path} was made by other code; {self._way_out()},"
                    " or count what is there with --keep-old"
                )
            rows[row["planner"], row["scenario"], row["seed"]] = row
        # Only now, when all before it are rows: a file that is something else is left as it is.
        if self._path.exists() and self._path.stat().st_size > whole_bytes:
            os.truncate(self._path, whole_bytes)
        return rows

    def append(self, rows: Iterable[Row]) -> None:
        """Add rows at the end; they are on the disk when this returns."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab") as file:
            file.write(b"".join(orjson.dumps(row) + b"\n" for row in rows))
            file.flush()
            os.fsync(file.fileno())

    def _way_out(self) -> str:
        return f"begin anew with --results {self._free_path()}, or remove {self._path}"

    def _free_path(self) -> Path:
        """A name beside this file that nobody has."""
        numbered = (self._path.with_stem(f"{self._path.stem}-{number}") for number in count(2))
        return next(path for path in numbered if not path.exists())

    def _whole_lines(self) -> tuple[list[bytes], int]:
        """The lines that are whole, and their bytes; what is left of a row at the end is none of them."""
        if not self._path.exists():
            return [], 0
        content = self._path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        torn = content[len(whole) :]
        if not (torn.startswith(_ROW_BEGINS) or _ROW_BEGINS.startswith(torn)):
            raise InputWrong(f"--results: {self._path} is no file of results: its last line does not begin like a row")
        return whole.splitlines(), len(whole)


def _row(line: bytes, where: str) -> Row:
    try:
        row = orjson.loads(line)
        missing = [
            name for name in ("planner", "scenario", "seed", "code_digest", "scenario_digest") if name not in row
        ]
    except (orjson.JSONDecodeError, TypeError) as error:
        raise InputWrong(f"--results: {where} is no row of results: {error}") from error
    if missing or not isinstance(row, dict):
        raise InputWrong(f"--results: {where} is no row of results: it has no {', '.join(missing)}")
    return row
