from datetime import UTC, datetime

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from doseflow.domain.forecast import MEDIAN_IDX, ForecastBasis
from doseflow.forecast.last_value import LastValue
from doseflow.forecast.learned_forecast import LearnedForecast, checked_quantiles
from doseflow.serve.onnx_engine import OnnxEngine

PADDED = 16
UNLUCKY = 666.0
"""Arrivals that the net is fed as a negative level."""
SPREAD = np.array([0.5, 0.75, 1.0, 1.5, 2.0], dtype=np.float32)
"""Quantiles of the toy net over the square root of its level."""


def toy_net() -> bytes:
    """A net whose quantiles are the square root of each site's level, times SPREAD; a negative level gives NaN."""
    spread = SPREAD[None, None, None].repeat(24, axis=2)
    constants = {"spread": spread, "spread_doses": 100 * SPREAD[None, None], "last": [-1], "last_two": [-2, -1]}
    graph = helper.make_graph(
        [
            helper.make_node("Sqrt", ["level"], ["root"]),
            helper.make_node("Unsqueeze", ["root", "last_two"], ["wide"]),
            helper.make_node("Mul", ["wide", "spread"], ["arrivals_people"]),
            helper.make_node("Unsqueeze", ["root", "last"], ["site"]),
            helper.make_node("Mul", ["site", "spread_doses"], ["doses_rest_of_day"]),
        ],
        "toy",
        [helper.make_tensor_value_info("level", TensorProto.FLOAT, ["B", "S"])],
        [
            helper.make_tensor_value_info("arrivals_people", TensorProto.FLOAT, ["B", "S", 24, 5]),
            helper.make_tensor_value_info("doses_rest_of_day", TensorProto.FLOAT, ["B", "S", 5]),
        ],
        [
            onnx.numpy_helper.from_array(
                np.asarray(value, dtype=np.int64 if isinstance(value, list) else np.float32), name
            )
            for name, value in constants.items()
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    onnx.checker.check_model(model)
    return model.SerializeToString()


ENGINE = OnnxEngine(toy_net())


def inputs_of(state):
    """The latest arrivals of each site, padded with -1, so that what the net says of the padding is NaN."""
    num_sites = state.city.num_sites
    level = np.full((1, PADDED), -1, dtype=np.float32)
    arrived = np.nan_to_num(state.arrivals_people)
    level[0, :num_sites] = np.where(arrived == UNLUCKY, -1, arrived)
    known = np.zeros((1, PADDED, 24, 3), dtype=np.float32)
    known[0, :num_sites, :, 2] = np.isfinite(state.arrivals_people)[:, None]
    known[0, :num_sites, :, 0] = np.repeat(np.isfinite(state.booked_people), 3, axis=1)
    return {"level": level, "candidates_known": known}


class Told:
    """An engine that says what it is told to say, or raises it."""

    name = "told"

    def __init__(self, said):
        self._said = said

    def run(self, inputs):
        if isinstance(self._said, Exception):
            raise self._said
        return self._said


def quantiles(sites=PADDED):
    people = np.broadcast_to(SPREAD, (1, sites, 24, 5)).copy()
    return {"arrivals_people": people, "doses_rest_of_day": people[:, :, 0].copy()}


def changed(name, place, value):
    said = quantiles()
    said[name][place] = value
    return said


def forecast_of(state, engine=ENGINE, **given):
    return LearnedForecast(engine, LastValue(), inputs_of, **given)(state)


def test_the_city_gets_the_quantiles_of_the_net_without_the_padding(make_state):
    forecast = forecast_of(make_state(3, arrivals_people=np.array([4.0, 9.0, 0.0])))
    assert (forecast.forecaster, forecast.why_this_forecaster) == ("learned", "")
    assert forecast.basis.tolist() == [ForecastBasis.NETWORK] * 3
    expected = np.array([2.0, 3.0, 0.0])[:, None] * SPREAD
    np.testing.assert_allclose(forecast.arrivals_people, np.repeat(expected[:, None], 24, axis=1))
    np.testing.assert_allclose(forecast.doses_rest_of_day, 100 * expected)


def test_a_site_of_which_nothing_is_known_stays_unknown_beside_the_others(make_state):
    forecast = forecast_of(make_state(2, arrivals_people=np.array([4.0, np.nan])))
    assert forecast.basis.tolist() == [ForecastBasis.NETWORK, ForecastBasis.NOTHING]
    assert np.isfinite(forecast.arrivals_people[0]).all()
    assert np.isnan(forecast.arrivals_people[1]).all()
    assert np.isnan(forecast.doses_rest_of_day[1]).all()
    assert forecast.forecaster == "learned"


def test_periods_beyond_the_bookings_of_a_site_that_tells_nothing_else_are_unknown(make_state):
    booked = np.full((1, 8), 6.0)
    booked[0, 6:] = np.nan
    forecast = forecast_of(make_state(1, booked_people=booked))
    assert np.isfinite(forecast.arrivals_people[0, :18]).all()
    assert np.isnan(forecast.arrivals_people[0, 18:]).all()
    assert forecast.basis.tolist() == [ForecastBasis.NOTHING]
    assert np.isnan(forecast.doses_rest_of_day).all()


def test_closed_hours_are_a_known_zero_also_where_nothing_is_known(make_state):
    state = make_state(
        3,
        arrivals_people=np.array([4.0, 4.0, np.nan]),
        is_open=np.array([True, False, False]),
        open_minutes_left=np.array([60.0, 0.0, 0.0]),
        as_of=datetime(2021, 6, 8, 15, 0, tzinfo=UTC),
    )
    forecast = forecast_of(state)
    assert (forecast.arrivals_people[0, :12, MEDIAN_IDX] == 2).all()
    assert (forecast.arrivals_people[0, 12:] == 0).all()
    assert (forecast.arrivals_people[1:] == 0).all()
    assert forecast.basis.tolist() == [ForecastBasis.NETWORK] * 3


def test_doses_of_a_day_that_begins_after_the_horizon_are_unknown(make_state):
    state = make_state(
        1,
        arrivals_people=np.array([4.0]),
        is_open=np.array([False]),
        open_minutes_left=np.zeros(1),
        as_of=datetime(2021, 6, 8, 2, 0, tzinfo=UTC),
    )
    forecast = forecast_of(state)
    assert (forecast.arrivals_people == 0).all()
    assert np.isnan(forecast.doses_rest_of_day).all()


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (RuntimeError("out of memory"), "RuntimeError: out of memory"),
        (KeyError("level"), "KeyError"),
        ({}, "arrivals_people: must be among the outputs, got none"),
        ({"arrivals_people": quantiles()["arrivals_people"]}, "doses_rest_of_day: must be among the outputs"),
        (quantiles(sites=2), r"arrivals_people: must be (1, at least 3, 24, 5), got (1, 2, 24, 5)"),
        ({name: one[0] for name, one in quantiles().items()}, "arrivals_people: must be (1, at least 3"),
        (
            {name: np.concatenate([one, one]) for name, one in quantiles().items()},
            "arrivals_people: must be (1, at least 3, 24, 5), got (2, 16, 24, 5)",
        ),
        (changed("arrivals_people", (0, 2, 23, 4), np.nan), "arrivals_people: must be finite, got 1 values"),
        (changed("arrivals_people", (0, 0, 0, 4), np.inf), "arrivals_people: must be finite"),
        (changed("arrivals_people", (0, 1, 5, 0), -0.01), "arrivals_people: must be at least 0, got -0.01"),
        (changed("arrivals_people", (0, 1, 5, 3), 0.9), "arrivals_people: must not fall along its quantiles"),
        (changed("doses_rest_of_day", (0, 0, 4), np.nan), "doses_rest_of_day: must be finite"),
        (changed("doses_rest_of_day", (0, 0, 1), 1.2), "doses_rest_of_day: must not fall along its quantiles"),
        (None, "TypeError"),
    ],
)
def test_an_engine_that_fails_or_cannot_be_right_leaves_the_city_to_the_fallback(make_state, said, reason):
    state = make_state(3, arrivals_people=np.array([4.0, 9.0, np.nan]))
    engine = Told(said) if said is not None else Told(quantiles())
    forecast = LearnedForecast(engine, LastValue(), inputs_of if said is not None else lambda _state: None)(state)
    expected = LastValue()(state)
    assert forecast.forecaster == "last_value"
    assert forecast.why_this_forecaster.startswith("learned failed: ")
    assert reason in forecast.why_this_forecaster
    np.testing.assert_array_equal(forecast.arrivals_people, expected.arrivals_people)
    np.testing.assert_array_equal(forecast.doses_rest_of_day, expected.doses_rest_of_day)
    np.testing.assert_array_equal(forecast.basis, expected.basis)


def test_a_real_net_that_says_nan_for_one_site_leaves_the_city_to_the_fallback(make_state):
    forecast = forecast_of(make_state(2, arrivals_people=np.array([4.0, UNLUCKY])))
    assert forecast.forecaster == "last_value"
    assert "arrivals_people: must be finite, got 120 values that are not" in forecast.why_this_forecaster


def test_a_real_engine_without_its_input_leaves_the_city_to_the_fallback(make_state):
    made = LearnedForecast(ENGINE, LastValue(), lambda _state: {"other": np.zeros(1)})(make_state(1))
    assert made.why_this_forecaster == "learned failed: EngineFailed: onnx_cpu: inputs must have level"


def test_after_a_failure_the_net_is_asked_again(make_state):
    forecaster = LearnedForecast(ENGINE, LastValue(), inputs_of)
    assert forecaster(make_state(1, arrivals_people=np.array([UNLUCKY]))).forecaster == "last_value"
    assert forecaster(make_state(1, arrivals_people=np.array([4.0]))).forecaster == "learned"


def test_a_city_larger_than_the_net_was_made_for_is_left_to_the_fallback(make_state):
    state = make_state(3, arrivals_people=np.full(3, 4.0))
    assert forecast_of(state, max_sites=3).forecaster == "learned"
    assert "sites must be at most 2, got 3" in forecast_of(state, max_sites=2).why_this_forecaster


def test_what_is_only_rounding_is_put_straight():
    said = changed("doses_rest_of_day", (0, 0), [-1e-6, 0.1, 0.1 - 1e-6, 0.2, 0.2])
    risen = checked_quantiles(said, "doses_rest_of_day", 1, (5,))
    np.testing.assert_allclose(risen, [[0, 0.1, 0.1, 0.2, 0.2]], atol=1e-9)
    assert (np.diff(risen, axis=-1) >= 0).all()
