"""Both accepted versions of the site report, held to one contract."""

from __future__ import annotations

import copy
from dataclasses import fields
from pathlib import Path

import jsonschema
import numpy as np
import orjson
import pytest
from intake_samples import NOW, make_city, report_document

from doseflow.domain.orders import Commitments
from doseflow.domain.report import ACCEPTED_VERSIONS, NEW_FRIDGE_FIELDS, NEW_REPORT_FIELDS
from doseflow.domain.state import CityState
from doseflow.intake.body import AcceptedItem, RefusedItem, read_body
from doseflow.intake.params import IntakeParams
from doseflow.intake.report_schema import report_schema
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.state.fold import fold
from doseflow.state.unknown import unknown_state

CITY = make_city()
REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
OF_A_LOGGER = {
    "ambient_celsius": 31.0,
    "door_open": True,
    "door_open_minutes": 4.0,
    "holdover_hours": 40.0,
    "alarms": ["DOOR"],
}
DOCUMENTS = [
    report_document(),
    *(report_document(**{name: ...}) for name in report_document() if name not in {"site_id", "valid_at"}),
    {"site_id": "prague-002", "valid_at": "2026-05-04T07:58:00Z", "fridges": [], "lots": []},
]


def items(document, city=CITY, now=NOW):
    return read_body(orjson.dumps(document), city, now, IntakeParams(), lambda refused: None)


def refusal(document) -> RefusedItem:
    (item,) = items(document)
    assert isinstance(item, RefusedItem)
    return item


def folded(document, city=CITY, now=NOW) -> CityState:
    (item,) = items(document, city, now)
    assert isinstance(item, AcceptedItem), item.error
    state = unknown_state(city, now)
    return fold(state, [item.received], state.arrivals_past_weeks_people, Commitments(), now)


def assert_same(one: object, other: object) -> None:
    for field in fields(one):
        left, right = getattr(one, field.name), getattr(other, field.name)
        if isinstance(left, np.ndarray):
            np.testing.assert_array_equal(left, right, err_msg=field.name)
        elif hasattr(left, "__dataclass_fields__") and field.name != "city":
            assert_same(left, right)
        else:
            assert left == right, field.name


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_folds_to_the_same_state_in_either_version_and_without_one(document):
    without = folded(document)
    for version in ACCEPTED_VERSIONS:
        assert_same(folded(document | {"schema_version": version}), without)


def test_the_reports_of_a_simulated_city_fold_to_the_same_state_in_either_version():
    played = SimulatedCity.from_name("synthetic:6", seed=3)
    played.advance(30)
    reports = [orjson.loads(one) for one in played.reports()]
    assert reports
    for report in reports:
        old, new = (folded(report | {"schema_version": version}, played.city, played.now) for version in (1, 2))
        assert_same(old, new)


@pytest.mark.parametrize("name", NEW_REPORT_FIELDS)
def test_a_report_of_version_1_with_a_new_field_is_refused_in_one_sentence(name):
    error = refusal(report_document(schema_version=1, **{name: "ice-lined-1"})).error
    assert str(error) == f"{name}: is a field of schema version 2, got schema_version 1"


@pytest.mark.parametrize("name", NEW_FRIDGE_FIELDS)
def test_a_report_of_version_1_with_a_new_field_of_a_fridge_is_refused_in_one_sentence(name):
    document = report_document(schema_version=1)
    document["fridges"][0][name] = OF_A_LOGGER[name]
    assert str(refusal(document).error) == f"fridges.0.{name}: is a field of schema version 2, got schema_version 1"
    assert isinstance(items(document | {"schema_version": 2})[0], AcceptedItem)


@pytest.mark.parametrize("version", [0, 3, -1])
def test_any_other_version_is_refused_with_the_two_that_are_accepted(version):
    error = refusal(report_document(schema_version=version)).error
    assert str(error) == f"schema_version: must be one of 1 or 2, got {version}"


@pytest.mark.parametrize("version", [True, 1.5, "1", None])
def test_a_version_that_is_no_whole_number_is_refused(version):
    assert refusal(report_document(schema_version=version)).error.field == "schema_version"


@pytest.mark.parametrize("version", ACCEPTED_VERSIONS)
def test_the_schema_files_are_those_that_the_code_makes(version):
    kept = orjson.loads((REFERENCE / f"report-{version}.schema.json").read_bytes())
    assert kept == orjson.loads(orjson.dumps(report_schema(version)))
    jsonschema.Draft202012Validator.check_schema(kept)


@pytest.mark.parametrize("version", ACCEPTED_VERSIONS)
def test_the_schema_of_a_version_takes_its_reports_and_no_others(version):
    validator = jsonschema.Draft202012Validator(report_schema(version))
    for document in DOCUMENTS:
        validator.validate(document | {"schema_version": version})
    newer = copy.deepcopy(report_document(schema_version=version, source="logger"))
    assert validator.is_valid(newer) is (version == 2)
    newer = report_document(schema_version=version)
    newer["fridges"][0] |= OF_A_LOGGER
    assert validator.is_valid(newer) is (version == 2)
    assert not validator.is_valid(report_document(schema_version=3 - version))
