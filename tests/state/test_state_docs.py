import math
import re
from pathlib import Path

from doseflow.state.reading_rules import READING_RULES

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "state.md"
MINUTES_OF = {"min": 1, "h": 60, "day": 1440, "days": 1440}


def _minutes(text: str) -> float:
    if text == "always":
        return math.inf
    number, unit = text.split()
    return float(number) * MINUTES_OF[unit]


def test_the_page_says_the_rule_of_each_class_as_the_code_has_it():
    rows = re.findall(
        r"^\| (\d+) ([A-Z_]+) \| (.+?) \| (.+?) \|$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    told = [(int(number) - 1, name, _minutes(age), rule) for number, name, age, rule in rows]
    held = [
        (int(one.feature_class), one.feature_class.name, one.carried_minutes, one.stands_in) for one in READING_RULES
    ]
    assert told == held
