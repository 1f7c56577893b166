"""The arrival net that comes with doseflow: small, whole, made for this version, and good for a city."""

from pathlib import Path

import numpy as np

from doseflow.bootstrap import forecaster_bundle, open_forecaster
from doseflow.domain.forecast import ForecastBasis
from doseflow.planning import plan_snapshot
from doseflow.serve.bundle import GOLDEN_TOLERANCE
from doseflow.settings import Settings

EXAMPLE = Path(__file__).parents[2] / "examples" / "morning.json"
MAX_BUNDLE_BYTES = 5_000_000


def test_it_opens_answers_its_golden_inputs_and_is_small():
    opened = open_forecaster(Settings())
    assert 0 <= opened.golden_difference <= GOLDEN_TOLERANCE
    assert sum(path.stat().st_size for path in forecaster_bundle(Settings()).iterdir()) <= MAX_BUNDLE_BYTES
    assert opened.bundle.manifest.licence == "Apache-2.0"


def test_a_snapshot_with_nothing_of_the_last_two_hours_is_forecast_by_it():
    cycle = plan_snapshot(EXAMPLE.read_bytes(), Settings(forecaster="learned")).cycle
    forecast = cycle.forecast
    assert (forecast.forecaster, forecast.why_this_forecaster) == ("learned", "")
    is_told = forecast.basis == ForecastBasis.NETWORK
    assert is_told.sum() >= 14
    people = forecast.arrivals_people[is_told]
    assert np.isfinite(people).all()
    assert (np.diff(people, axis=-1) >= 0).all()
    booked_per_period = np.nanmean(cycle.state.booked_people[is_told]) / 3
    assert 0.5 * booked_per_period < people[..., 2].mean() < 3 * booked_per_period
