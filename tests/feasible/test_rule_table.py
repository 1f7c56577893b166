"""docs/reference/rules.md says of every rule what the rule book says."""

from __future__ import annotations

from pathlib import Path

from doseflow.feasible.rule_book import as_markdown

RULES_PAGE = Path(__file__).parents[2] / "docs" / "reference" / "rules.md"


def test_the_page_of_rules_is_the_rule_book():
    page = RULES_PAGE.read_text(encoding="utf-8")
    table = page[page.index("| rule |") :].split("\n\n")[0] + "\n"
    assert table == as_markdown(), "copy the output of as_markdown() into docs/reference/rules.md"
