"""The page of scenarios is what the scenarios are."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_is_the_one_that_the_tool_makes():
    spec = importlib.util.spec_from_file_location("scenario_page", ROOT / "tools" / "scenario_page.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    page = (ROOT / "docs" / "reference" / "scenarios.md").read_text(encoding="utf-8")
    assert page == tool.page() + "\n", "python tools/scenario_page.py > docs/reference/scenarios.md"
