import re
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from pydantic import TypeAdapter

from doseflow.domain import report
from doseflow.domain.report import SiteReport

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "report-schema.md").read_text(encoding="utf-8")
EXAMPLE = re.search(r"```json\n(.+?)```", PAGE, flags=re.DOTALL)[1]


def _classes_within(annotation) -> set[type]:
    if isinstance(annotation, type) and is_dataclass(annotation):
        hints = get_type_hints(annotation, include_extras=True)
        return {annotation}.union(*(_classes_within(hints[field.name]) for field in fields(annotation)))
    return set().union(*(_classes_within(one) for one in get_args(annotation)))


SCHEMA_CLASSES = sorted(_classes_within(SiteReport), key=lambda one: one.__name__)


def test_the_example_is_a_valid_report_that_tells_every_field():
    example = TypeAdapter(SiteReport).validate_json(EXAMPLE)
    assert all(getattr(example, field.name) is not None for field in fields(SiteReport))


def test_the_schema_has_its_eleven_objects():
    assert len(SCHEMA_CLASSES) == 11


@pytest.mark.parametrize("schema_class", SCHEMA_CLASSES)
def test_every_field_stands_on_the_page(schema_class):
    text = PAGE.replace(EXAMPLE, "")
    for field in fields(schema_class):
        assert f"`{field.name}`" in text, field.name


@pytest.mark.parametrize("name", ["Role", "Power", "Weather", "Incident"])
def test_every_allowed_word_stands_on_the_page(name):
    for word in getattr(report, name):
        assert f"`{word}`" in PAGE
