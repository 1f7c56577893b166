import json
import re

import pytest

from doseflow.domain.decisions import DecisionKind, Family
from doseflow.domain.feature_classes import FeatureClass, ReadingSource
from doseflow.domain.forecast import ForecastBasis
from doseflow.domain.orders import OrderState
from doseflow.domain.plan import RepairPath
from doseflow.domain.roles import ROLES, STAGES
from doseflow.web.pages import STATIC_FOLDER
from doseflow.web.trouble import TroubleCode

MESSAGES = json.loads((STATIC_FOLDER / "messages.js").read_text(encoding="utf-8").split("=", 1)[1].strip().rstrip(";"))
CODE = "\n".join(
    path.read_text(encoding="utf-8")
    for path in sorted(STATIC_FOLDER.iterdir())
    if path.suffix in {".js", ".html"} and path.name != "messages.js"
)
NAMED_KEYS = re.findall(r"""\bt\(\s*"([a-z_.]+)\"""", CODE) + re.findall(r'data-(?:text|label|hint)="([a-z_.]+)"', CODE)


def test_both_languages_have_the_same_keys():
    assert set(MESSAGES) == {"en", "zh"}
    assert set(MESSAGES["en"]) ^ set(MESSAGES["zh"]) == set()


def test_both_languages_say_the_same_figures():
    def figures(language: str) -> dict[str, set[str]]:
        return {key: set(re.findall(r"\{(\w+)\}", text)) for key, text in MESSAGES[language].items()}

    assert figures("en") == figures("zh")


def test_no_message_is_empty_and_no_chinese_one_was_left_in_english():
    for key, text in MESSAGES["zh"].items():
        assert text.strip()
        is_symbolic = not re.search(r"[A-Za-z]{3,}", re.sub(r"\{\w+\}|doseflow", "", text))
        assert is_symbolic or key == "language.choose", f"{key}: {text}"


def test_every_key_that_the_code_names_has_a_message():
    assert len(NAMED_KEYS) > 60
    assert {key for key in NAMED_KEYS if key not in MESSAGES["en"]} == set()


@pytest.mark.parametrize(
    ("prefix", "names"),
    [
        ("trouble", list(TroubleCode)),
        ("order", list(DecisionKind)),
        ("family", list(Family)),
        ("state", list(OrderState)),
        ("repair", list(RepairPath)),
        ("role", ROLES),
        ("stage", STAGES),
        ("queue", STAGES),
        ("class", [each.name.lower() for each in FeatureClass]),
        ("source", [each.name.lower() for each in ReadingSource]),
        ("basis", [each.name.lower() for each in ForecastBasis]),
    ],
)
def test_everything_that_the_service_may_say_has_a_message(prefix, names):
    assert {f"{prefix}.{name}" for name in names} <= set(MESSAGES["en"])


def test_the_stages_carry_the_words_of_the_chinese_standard():
    """T/CPMA 016-2020 names the stations of a digital clinic."""
    chinese = MESSAGES["zh"]
    assert [chinese[f"stage.{stage}"] for stage in STAGES] == ["登记", "健康询问", "接种", "留观"]
    assert chinese["queue.vaccination"] == "候种"
    bands = [chinese[f"band.{band}"] for band in ("clear", "busy", "crowded", "closed")]
    assert bands == ["畅通", "忙碌", "拥堵", "休息中"]


def test_every_message_is_used():
    built = re.findall(r"\bt\(`([a-z_]+)\.\$\{", CODE)
    literal = set(re.findall(r'"([a-z_]+(?:\.[a-z_]+)*)"', CODE))
    unused = {key for key in MESSAGES["en"] if key not in literal and key.split(".")[0] not in built}
    assert unused == set()
