"""Members of the blend are tried about as fresh as they serve, and never on what they were fitted to."""

import numpy as np
import pytest
from series_samples import counts_of, mean_of, table_of

from doseflow.forecast.series.forecaster import REFIT_GROWTH, SeriesForecaster, _origins
from doseflow.forecast.series.params import SeriesForecastParams
from doseflow.forecast.series.plain.historical_average import HistoricalAverage

HORIZON = 7
QUICK = SeriesForecastParams(rows_per_fit=500, max_fits=2, tree_examples=500)


class Noting(HistoricalAverage):
    """A plain member that notes the steps of each table it is fitted to and of each it forecasts from."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def fit(self, table, horizon):
        self.seen.append(("fit", table.num_steps))
        super().fit(table, horizon)

    def forecast(self, table, horizon):
        self.seen.append(("forecast", table.num_steps))
        return super().forecast(table, horizon)


def noted(num_days, monkeypatch):
    """What a member was asked in the back-test of a table of days, in order, and the origins."""
    table = table_of(counts_of(mean_of(12, num_days, 1440)), 1440)
    member = Noting()
    forecaster = SeriesForecaster(QUICK)
    monkeypatch.setattr(forecaster, "_made", lambda _fits: [member])
    forecaster.fit(table, HORIZON)
    # The last fit is that on the whole table, after the back-test.
    assert member.seen[-1] == ("fit", num_days)
    return member.seen[:-1], _origins(table, HORIZON)


@pytest.mark.parametrize("num_days", [90, 400])
def test_members_forecast_from_every_origin_with_a_fit_that_had_nearly_the_same_history(num_days, monkeypatch):
    seen, origins = noted(num_days, monkeypatch)
    assert [steps for what, steps in seen if what == "forecast"] == origins
    fitted = 0
    for what, steps in seen:
        fitted = steps if what == "fit" else fitted
        assert fitted <= steps <= fitted * (1 + REFIT_GROWTH)


def test_a_short_history_is_fitted_again_and_a_long_one_once(monkeypatch):
    seen, origins = noted(65, monkeypatch)
    # Four days are more than a twentieth of 46 to 54 days.
    assert origins == [46, 50, 54, 58]
    assert [steps for what, steps in seen if what == "fit"] == origins
    seen, origins = noted(400, monkeypatch)
    assert [steps for what, steps in seen if what == "fit"] == origins[:1]


def test_between_the_two_a_history_is_fitted_again_once_it_has_grown_by_a_twentieth(monkeypatch):
    seen, origins = noted(115, monkeypatch)
    # A twentieth more than 96 days are 100.8: 104 are enough, and 108 are not a twentieth more again.
    assert origins == [96, 100, 104, 108]
    assert [steps for what, steps in seen if what == "fit"] == [96, 104]


def test_what_trees_learn_anew_is_no_later_than_the_origin(monkeypatch):
    table = table_of(counts_of(mean_of(12, 70, 1440)), 1440)
    origins = _origins(table, HORIZON)[-2:]
    told = []
    for future in (table.values, np.random.default_rng(1).permutation(table.values.T).T):
        values = np.where(np.arange(70) < origins[-1], table.values, future)
        forecaster = SeriesForecaster(QUICK)
        forecaster._unit = 1.0
        told.append(forecaster._tried(table_of(values, 1440), HORIZON, origins, lambda _: None)[0])
    assert np.array_equal(*told)
