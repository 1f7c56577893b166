from __future__ import annotations

import pytest
from intake_samples import make_city

from doseflow.domain.appointment import Place
from doseflow.errors import SettingsWrong
from doseflow.intake.site_places import VTRCKS_SYSTEM, SitePlaces

NEAR_THE_FIRST = Place(("Location/9",), 50.1005, 14.43)
"""56 m north of the first site; the second is 11 km away."""


@pytest.mark.parametrize("key", [f"{VTRCKS_SYSTEM}|RA1", "vtrcks|RA1", "RA1"])
def test_a_vtrcks_pin_is_found_by_its_long_its_short_and_its_bare_name(key: str) -> None:
    assert SitePlaces(make_city(), {key: "prague-002"}).site_of(Place((f"{VTRCKS_SYSTEM}|RA1",))) == "prague-002"


def test_the_first_name_that_the_table_knows_counts_and_the_sites_own_id_after_the_table() -> None:
    places = SitePlaces(make_city(), {"AIL-3.4|North": "prague-002", "Location/prague-001": "prague-002"})
    assert places.site_of(Place(("AIL-3|x", "AIL-3.4|North", "MSH-4|prague-001"))) == "prague-002"
    assert places.site_of(Place(("Location/prague-001",))) == "prague-002"
    assert places.site_of(Place(("urn:x|prague-001",))) == "prague-001"
    assert places.site_of(Place(("Location/nowhere",))) is None


@pytest.mark.parametrize(("metres", "site_id"), [(0, None), (50, None), (60, "prague-001")])
def test_the_nearest_site_counts_only_within_the_metres_of_the_setting(metres: float, site_id: str | None) -> None:
    assert SitePlaces(make_city(), {}, metres).site_of(NEAR_THE_FIRST) == site_id


def test_a_table_that_names_no_site_is_refused() -> None:
    with pytest.raises(SettingsWrong, match=r"appointments\.locations: 'a' is said to be 'b', which is no site"):
        SitePlaces(make_city(), {"a": "b"})
