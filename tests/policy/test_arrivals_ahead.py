"""The people planned for."""

import numpy as np
import pytest
from rules_city import calm_state, city_of, forecast_of

from doseflow.policy.arrivals_ahead import arrivals_ahead


@pytest.mark.parametrize("per_minute", [0.4, 1.0, 4.0])
def test_at_the_middle_level_the_mean_is_planned_for_and_not_the_lower_median(per_minute):
    forecast = forecast_of(calm_state(city_of(1)), per_minute)
    assert arrivals_ahead(forecast, 0.5) == pytest.approx(np.full((1, 24), 5 * per_minute), rel=0.01)
    assert (forecast.arrivals_people[..., 2] < 5 * per_minute).all()


def test_at_another_level_that_quantile_is():
    forecast = forecast_of(calm_state(city_of(1)), 1.0)
    assert (arrivals_ahead(forecast, 0.75) == forecast.arrivals_people[..., 3]).all()
