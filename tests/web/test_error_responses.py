import inspect
import re
from pathlib import Path

import pytest

from doseflow import errors
from doseflow.web.error_responses import ERROR_TO_PROBLEM, OTHER_PROBLEMS, ProblemKind, documented, problem_of

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "http.md"
ALL_ERRORS = [
    each for each in vars(errors).values() if inspect.isclass(each) and issubclass(each, errors.DoseflowError)
]
LEAVES = [each for each in ALL_ERRORS if not each.__subclasses__()]
KINDS = [*ERROR_TO_PROBLEM.values(), *OTHER_PROBLEMS]


def test_every_leaf_of_the_error_tree_is_in_the_table():
    assert {leaf.__name__ for leaf in LEAVES} - {cls.__name__ for cls in ERROR_TO_PROBLEM} == set()


def test_the_table_holds_nothing_that_is_not_a_leaf_or_raised_itself():
    assert set(ERROR_TO_PROBLEM) <= {*LEAVES, errors.EngineFailed, errors.GatewayFailed, errors.NotFound}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.slug)
def test_every_problem_has_an_error_status_and_a_plain_slug(kind: ProblemKind):
    assert 400 <= kind.status <= 599
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", kind.slug)


def test_no_two_problems_share_a_type():
    assert len({kind.type for kind in KINDS}) == len(KINDS)


def test_an_error_that_grows_a_child_is_answered_like_its_parent():
    class SiteMoved(errors.SiteUnknown):
        pass

    assert problem_of(SiteMoved("site_id", "has moved")) is ERROR_TO_PROBLEM[errors.SiteUnknown]


def test_a_body_that_cannot_be_read_is_400_and_a_wrong_field_422():
    assert problem_of(errors.ReportMalformed("body", "must be UTF-8")).status == 400
    assert problem_of(errors.ReportMalformed("doses_given", "must be at least 0")).status == 422


def test_two_problems_of_one_status_are_documented_together():
    missing = ERROR_TO_PROBLEM[errors.PlanNotFound], ERROR_TO_PROBLEM[errors.SiteUnknown]
    description = documented(*missing)[404]["description"]
    assert all(kind.title in description for kind in missing)


def test_the_error_table_of_the_reference_page_is_the_one_of_the_code():
    rows = re.findall(r"^\| `([a-z-]+)` \| (\d{3}) \|", REFERENCE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(rows) == sorted((kind.slug, str(kind.status)) for kind in KINDS)
