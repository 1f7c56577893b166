"""What a person reads whose TOML gives a field twice: the field and the line. tomllib names neither in all cases."""

from __future__ import annotations

import re
import tomllib

_AT_LINE = re.compile(r"\(at line (\d+), column \d+\)")
_TWICE = ("Cannot overwrite", "Cannot declare", "Cannot mutate", "Duplicate inline table key")
_HEADER = re.compile(r"\s*(\[\[?)\s*([\w.\"'-]+)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"\s*([\w.\"'-]+)\s*=")
_INLINE_KEY = re.compile(r"Duplicate inline table key '(.+)'")


def toml_refusal(error: tomllib.TOMLDecodeError, text: str) -> str:
    """One sentence with the field where one is given twice; else what the reader of TOML says."""
    message = str(error)
    if not message.startswith(_TWICE):
        return f"scenario: must be TOML in UTF-8: {message}"
    lines = text.splitlines()
    found = _AT_LINE.search(message)
    line_no, field = _last_field(lines[: int(found[1])] if found else lines)
    inline = _INLINE_KEY.match(message)
    if inline is not None:
        field = f"{field}.{inline[1]}"
    return f"{field}: must be given only once, and is given again in line {line_no}"


def _last_field(lines: list[str]) -> tuple[int, str]:
    """Number of the last line that names a field or a table, and the path of what it names."""
    table, last, seen = "", (len(lines), "scenario"), dict[str, int]()
    for line_no, line in enumerate(lines, start=1):
        if header := _HEADER.match(line):
            table = header[2]
            if header[1] == "[[":
                seen[table] = seen.get(table, -1) + 1
                table = f"{table}.{seen[table]}"
            last = line_no, table
        elif key := _KEY.match(line):
            last = line_no, f"{table}.{key[1]}" if table else key[1]
    return last
