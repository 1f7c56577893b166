"""Series of one table that end at different times."""

import numpy as np
from series_samples import counts_of, mean_of, table_of

from doseflow.forecast.series.forecaster import SeriesForecaster
from doseflow.forecast.series.params import SeriesForecastParams
from doseflow.forecast.series.ridge_forecast import ridge_forecast

QUICK = SeriesForecastParams(rows_per_fit=2000, max_fits=2, tree_examples=2000)
HORIZON, NUM_STEPS = 6, 24 * 28


def test_series_that_end_before_the_longest_one_are_blended_and_not_left_to_one_member():
    values = counts_of(mean_of(4, NUM_STEPS))
    values[:3, -5:] = np.nan
    table, last = table_of(values), np.array([NUM_STEPS - 6] * 3 + [NUM_STEPS - 1])
    forecaster = SeriesForecaster(QUICK)
    forecaster.fit(table, HORIZON)
    assert len(forecaster.weights) > 1
    told = forecaster.forecast(table, HORIZON, last)
    ridge = ridge_forecast(table, HORIZON, QUICK, last_step_idx=last)
    assert np.isfinite(told).all()
    assert (np.diff(told, axis=-1) >= 0).all()
    for row in range(4):
        assert not np.allclose(told[row], ridge[row])
