"""From rows to figures: means, ratios and differences that can be worked out by hand, on days that all have played."""

from __future__ import annotations

import numpy as np
import pytest
from evaluate_samples import row

from doseflow.evaluate.comparison import UNSURE, compare, seed_ranges


def figures_of(rows, planners):
    found = compare(rows, planners).figures()
    return {(one.params["planner"], one.params["family"], one.name): one for one in found}


def days(planner: str, waits: list[float], **more) -> list[dict]:
    return [row(planner, seed, mean_wait_minutes=wait, **more) for seed, wait in enumerate(waits, start=1)]


def test_a_reduction_is_the_ratio_of_means_not_the_mean_of_ratios():
    rows = days("static", [10.0, 90.0]) + days("rules", [5.0, 85.0])
    figure = figures_of(rows, ("static", "rules"))["rules", "small", "wait_reduction_share"]
    assert figure.value == pytest.approx(0.1)
    assert (figure.n, figure.notes) == (2, f"seeds 1-2; {UNSURE}")


def test_ten_days_of_every_scenario_are_sure_and_fewer_of_one_are_not():
    many = [row("static", seed, mean_wait_minutes=float(seed)) for seed in range(1, 11)]
    assert not compare(many, ("static",)).is_unsure
    assert {one.notes for one in compare(many, ("static",)).figures()} == {"seeds 1-10"}
    few = [row("static", seed, "other", "other", mean_wait_minutes=float(seed)) for seed in range(1, 10)]
    both = compare([*many, *few], ("static",))
    assert both.is_unsure
    unsure = {one.params["family"] for one in both.figures() if UNSURE in one.notes}
    assert unsure == {"other", "all"}


def test_one_day_has_no_interval_that_could_be_too_narrow():
    assert not compare([row("static", 1)], ("static",)).is_unsure


def test_the_gap_closed_runs_from_the_rules_to_the_bound():
    rows = days("rules", [30.0] * 4) + days("index", [27.0] * 4) + days("mpc12_perfect", [20.0] * 4)
    found = figures_of(rows, ("rules", "index", "mpc12_perfect"))
    assert found["index", "all", "gap_closed_share"].value == pytest.approx(0.3)
    assert found["rules", "all", "gap_closed_share"].value == 0
    assert found["mpc12_perfect", "all", "gap_closed_share"].value == 1


def test_no_gap_is_closed_where_the_bound_is_not_below_the_rules():
    rows = days("rules", [20.0] * 3) + days("index", [19.0] * 3) + days("mpc12_perfect", [21.0] * 3)
    figure = figures_of(rows, ("rules", "index", "mpc12_perfect"))["index", "all", "gap_closed_share"]
    assert np.isnan(figure.value)
    assert figure.ci95 is None


def test_the_forecast_gap_runs_from_a_plain_forecast_to_a_perfect_one_under_the_same_planner():
    waits = {"rules": 50.0, "mpc12@seasonal_naive": 30.0, "mpc12": 28.0, "mpc12@learned": 24.0, "mpc12_perfect": 20.0}
    rows = [one for planner, wait in waits.items() for one in days(planner, [wait - 1, wait, wait + 1])]
    found = figures_of(rows, tuple(waits))
    closed = {planner: found[planner, "all", "forecast_gap_closed_share"] for planner in waits if planner != "rules"}
    assert {planner: one.value for planner, one in closed.items()} == pytest.approx(
        {"mpc12@seasonal_naive": 0.0, "mpc12": 0.2, "mpc12@learned": 0.6, "mpc12_perfect": 1.0}
    )
    assert closed["mpc12@learned"].ci95 == pytest.approx((0.6, 0.6))
    assert ("rules", "all", "forecast_gap_closed_share") not in found
    without = figures_of(rows, ("mpc12@learned", "mpc12_perfect"))
    assert not any(name == "forecast_gap_closed_share" for _, _, name in without)


def test_a_family_counts_the_same_however_many_days_it_has():
    rows = [*days("static", [10.0] * 30), row("static", 1, "other", "other", mean_wait_minutes=30.0)]
    found = figures_of(rows, ("static",))
    assert found["static", "all", "mean_wait_minutes"].value == pytest.approx(20.0)
    assert found["static", "all", "mean_wait_minutes"].n == 31


def test_two_scenarios_of_one_family_are_one_family():
    rows = [
        row("static", seed, name, "hot", mean_wait_minutes=wait)
        for name, wait in (("a", 10), ("b", 20))
        for seed in (1, 2)
    ]
    found = figures_of(rows, ("static",))
    assert found["static", "hot", "mean_wait_minutes"].value == pytest.approx(15.0)
    assert {family for _, family, _ in found} == {"hot", "all"}


def test_a_day_that_failed_under_one_planner_counts_for_none():
    rows = days("static", [10.0, 20.0, 30.0]) + days("rules", [1.0, 2.0, 3.0])
    failed = {**rows.pop(), "failed": "ValueError: broken"}
    found = figures_of([*rows, failed], ("static", "rules"))
    assert found["static", "all", "mean_wait_minutes"].value == pytest.approx(15.0)
    assert found["rules", "all", "mean_wait_minutes"].n == 2


def test_luck_that_planners_share_does_not_widen_their_difference():
    luck = np.random.default_rng(3).gamma(3.0, 10.0, 30)
    rows = days("rules", list(luck + 5)) + days("index", list(luck))
    found = figures_of(rows, ("rules", "index"))
    low, high = found["index", "all", "mean_wait_minutes"].ci95
    assert high - low > 5
    assert found["index", "all", "mean_wait_difference_minutes"].ci95 == pytest.approx((-5.0, -5.0))


def test_a_broken_rule_misses_its_target():
    found = figures_of(days("static", [1.0, 1.0], referee_violations=1.0), ("static",))
    assert found["static", "all", "referee_violations"].met is False


def test_nothing_played_gives_no_figures():
    assert compare([], ("static",)).figures() == []


def test_seeds_are_written_as_ranges():
    assert seed_ranges((1, 2, 3, 5, 8, 9)) == "1-3, 5, 8-9"


def test_differences_to_a_chosen_planner_name_it_and_those_to_the_rules_do_not():
    waits = {"rules": 20.0, "index": 18.0, "learned": 17.0}
    rows = [one for planner, wait in waits.items() for one in days(planner, [wait, wait + 2])]
    found = compare(rows, tuple(waits), against=("index",)).figures()
    of_learned = {
        one.params.get("against", "rules"): one.value
        for one in found
        if (one.name, one.params["planner"], one.params["family"]) == ("mean_wait_difference_minutes", "learned", "all")
    }
    assert of_learned == pytest.approx({"rules": -3.0, "index": -1.0})


def test_a_target_is_a_least_one_and_stands_beside_what_the_bound_reaches():
    waits = {"static": 20.0, "rules": 18.0, "index": 11.0, "mpc12_perfect": 10.0}
    rows = [one for planner, wait in waits.items() for one in days(planner, [wait, wait])]
    found = figures_of(rows, tuple(waits))
    reduction = found["index", "all", "wait_reduction_share"]
    assert (reduction.target, reduction.met) == (0.42, True)
    assert reduction.notes.endswith("mpc12_perfect 0.5")
    closed = found["rules", "all", "gap_closed_share"]
    assert (closed.target, closed.met) == (0.70, False)
    assert found["rules", "all", "referee_violations"].met is False
    assert found["rules", "all", "mean_wait_minutes"].met is None
