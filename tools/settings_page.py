"""Prints docs/reference/settings.md from the settings: `python tools/settings_page.py > docs/reference/settings.md`."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import textwrap
from itertools import pairwise
from typing import Any

from pydantic import BaseModel

from doseflow.settings import Settings

HEAD = """# Settings

Read once, from `doseflow.toml` in the working folder (or the file that `DOSEFLOW_SETTINGS` names), then from the
environment: `DOSEFLOW_HTTP__PORT=9000` sets `http.port`. A key that does not exist is refused. `doseflow config show`
prints what is in force. Made by `tools/settings_page.py`.

| key | default | meaning |
|---|---|---|"""


def main() -> None:
    print(HEAD)
    for row in rows("", Settings(), ""):
        print(row)


def rows(key: str, value: Any, meaning: str) -> list[str]:
    """A row for a plain value, or the rows of its parts."""
    if isinstance(value, BaseModel) or dataclasses.is_dataclass(value):
        names = (
            type(value).model_fields if isinstance(value, BaseModel) else [f.name for f in dataclasses.fields(value)]
        )
        said = field_docstrings(type(value))
        prefix = f"{key}." if key else ""
        return [row for name in names for row in rows(prefix + name, getattr(value, name), said.get(name, ""))]
    shown = json.dumps(value, default=str, ensure_ascii=False) if value is not None else "not set"
    return [f"| `{key}` | `{shown}` | {meaning} |"]


def field_docstrings(kind: type) -> dict[str, str]:
    """The strings below the fields of a class."""
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0].body  # type: ignore[attr-defined]
    said = {}
    for before, after in pairwise(body):
        if isinstance(before, ast.AnnAssign) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            said[before.target.id] = " ".join(str(after.value.value).split())  # type: ignore[union-attr]
    return said


if __name__ == "__main__":
    main()
