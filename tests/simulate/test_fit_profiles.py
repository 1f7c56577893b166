"""The figures taken from real series, made again from the originals."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from doseflow.simulate.day_profile import WALK_IN_TENTHS
from doseflow.simulate.parameters import SOURCES, SimulationParams

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("SHARED_DATA", ROOT.parent / "shared" / "data"))
FOLDERS = ("call_centre", "ed_arrivals", "subway_flow", "czech")


@pytest.fixture(scope="module")
def fitted():
    if not all((DATA / name).is_dir() for name in FOLDERS):
        pytest.skip(
            f"THE REAL SERIES ARE NOT HERE ({DATA}): walk-in profile and no-show share are not compared with them; "
            "set SHARED_DATA to their folder"
        )
    spec = importlib.util.spec_from_file_location("fit_profiles", ROOT / "tools" / "fit_profiles.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool.fitted(DATA)


def test_the_packaged_walk_in_profile_is_the_mean_of_the_two_series_of_unbooked_demand(fitted):
    assert list(WALK_IN_TENTHS) == fitted["walk_in_tenths"]


def test_the_no_show_share_is_at_least_what_the_czech_doses_fall_short_of_bookings(fitted):
    shortfall = fitted["shortfall_share"]
    assert f"{100 * shortfall:.1f} %" in SOURCES["no_show_share"].source
    assert shortfall <= SimulationParams().no_show_share <= shortfall + 0.01


def test_the_docs_state_the_figures_of_the_originals(fitted):
    text = (ROOT / "docs" / "reference" / "cities.md").read_text(encoding="utf-8")
    assert " ".join(f"{share:.3f}" for share in WALK_IN_TENTHS) in " ".join(text.split())
    rush = fitted["subway_tenths"][0] + fitted["subway_tenths"][-1]
    for figure in (
        f"{fitted['site_days']:,} Czech site-days",
        f"leaves out {fitted['site_days_left_out']}",
        f"exceeded them by {100 * fitted['excess_share']:.1f} %",
        f"standard deviation of {100 * fitted['shortfall_share_sd_over_sites']:.1f} %",
        f"hold {100 * rush:.0f} % of the day's people",
    ):
        assert figure in " ".join(text.split())
