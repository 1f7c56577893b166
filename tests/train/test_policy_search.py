"""The search for a decision layer: better on a cost that is known, the same whether or not it was stopped."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from doseflow.cli import app
from doseflow.errors import TrainingWrong
from doseflow.policy.learned_policy import LearnedParams
from doseflow.policy.site_values import ValueWeights
from doseflow.train.evolution import Evolution
from doseflow.train.policy_search import SEARCHED, SearchParams, costs_of, params_at, search, toml_of

SMALL = SearchParams(num_generations=3, num_pairs=3, days_per_generation=2)


def known_cost(layer, _scenario, seed):
    """Least where a move must save 600 and observers count half; days differ as days do."""
    off = np.log(layer.least_gain_minutes / 600) ** 2 + np.log(layer.weights.observer / 0.5) ** 2
    return (10 + seed % 7) * (1 + off)


def silent(_done):
    """Progress that nobody looks at."""


def test_a_strategy_comes_near_the_least_of_a_bowl():
    evolution, target = Evolution(np.zeros(4), 0.3), np.array([0.5, -0.4, 0.0, 0.3])
    for _ in range(40):
        candidates = evolution.candidates(6, seed=3)
        evolution = evolution.told(candidates, ((candidates - target) ** 2).sum(axis=1), spread_factor=0.93)
    assert np.abs(evolution.mean - target).max() < 0.05


def test_candidates_are_mirrored_differ_between_generations_and_come_again():
    evolution = Evolution(np.array([1.0, 2.0]), 0.3)
    candidates = evolution.candidates(3, seed=7)
    assert candidates[:3] + candidates[3:] == pytest.approx(2 * evolution.mean + np.zeros((3, 2)))
    assert (candidates == evolution.candidates(3, seed=7)).all()
    assert (candidates != Evolution(evolution.mean, 0.3, generation=1).candidates(3, seed=7)).any()


def test_only_the_order_of_costs_counts():
    evolution = Evolution(np.zeros(2), 0.3)
    candidates, costs = evolution.candidates(4, seed=1), np.arange(8.0)
    assert (evolution.told(candidates, costs).mean == evolution.told(candidates, np.exp(costs)).mean).all()
    assert (evolution.told(candidates, costs).mean != evolution.told(candidates, costs[::-1]).mean).any()


def test_the_search_finds_what_costs_less(tmp_path):
    usual = LearnedParams()
    longer = replace(SMALL, num_generations=12, num_pairs=6)
    found = search(longer, tmp_path, usual, known_cost, silent, 1)
    assert known_cost(found, None, 0) - 10 < 0.1 * (known_cost(usual, None, 0) - 10)


def test_a_search_that_was_stopped_finds_what_one_that_was_not_does(tmp_path):
    whole = search(SMALL, tmp_path / "whole", LearnedParams(), known_cost, silent, 1)
    search(replace(SMALL, num_generations=1), tmp_path / "parts", LearnedParams(), known_cost, silent, 1)
    told = []
    assert search(SMALL, tmp_path / "parts", LearnedParams(), known_cost, told.append, 1) == whole
    assert (told[0], told[-1]) == (13, SMALL.num_days)


def test_a_folder_of_another_search_is_refused(tmp_path):
    search(SMALL, tmp_path, LearnedParams(), known_cost, silent, 1)
    with pytest.raises(TrainingWrong, match="another search"):
        search(replace(SMALL, seed=2), tmp_path, LearnedParams(), known_cost, silent, 1)
    (tmp_path / "evolution.json").write_text("{")
    with pytest.raises(TrainingWrong, match="cannot be read"):
        search(SMALL, tmp_path, LearnedParams(), known_cost, silent, 1)


def test_every_layer_is_tried_on_the_same_days_and_no_two_generations_share_one():
    seen = []

    def watched(layer, scenario, seed):
        seen.append((layer.least_gain_minutes, scenario.name, seed))
        return 10.0 + seed % 3

    layers = [LearnedParams(), LearnedParams(least_gain_minutes=400.0)]
    costs = costs_of(layers, SMALL.day_seeds(0), watched, 1, lambda: None)
    days = {gain: [one[1:] for one in seen if one[0] == gain] for gain in (300.0, 400.0)}
    assert days[300.0] == days[400.0]
    assert costs == pytest.approx([1.0, 1.0])
    assert not set(SMALL.day_seeds(0)) & set(SMALL.day_seeds(1))


def test_a_point_scales_each_number_and_nothing_else():
    usual = LearnedParams(weights=ValueWeights(observer=2.0))
    assert params_at(usual, np.zeros(len(SEARCHED))) == usual
    point = np.log(np.arange(1, 8) / 4)
    found = params_at(usual, point)
    said = [*(getattr(found.weights, role) for role in ("registrar", "screener", "vaccinator", "observer"))]
    said += [found.least_gain_minutes, found.walk_ins.crowded_above_minutes, found.walk_ins.least_gain_minutes]
    base = np.array([1.0, 1.0, 1.0, 2.0, 300.0, 20.0, 15.0])
    assert said == pytest.approx(base * np.arange(1, 8) / 4)
    assert found.kept_gain_minutes == usual.kept_gain_minutes


def test_candidates_stay_within_what_settings_may_say():
    usual = LearnedParams(weights=ValueWeights(registrar=9.9, screener=0.11), kept_gain_minutes=290.0)
    up, down = (params_at(usual, np.full(len(SEARCHED), one)) for one in (8.0, -8.0))
    assert (up.weights.registrar, up.least_gain_minutes, up.walk_ins.crowded_above_minutes) == (10, 10_000, 1000)
    assert (down.weights.screener, down.kept_gain_minutes) == (0.1, 290)
    assert down.least_gain_minutes == pytest.approx(290)


@pytest.mark.parametrize("options", [["--quick"], ["--device", "cuda"], ["--passes", "2"]])
def test_options_of_a_net_are_refused_by_a_search(options, tmp_path):
    with pytest.raises(TrainingWrong, match=f"^{options[0]}: must be left out with --by evolution"):
        CliRunner().invoke(
            app,
            ["train", "policy", "--by", "evolution", "--out", str(tmp_path / "out"), *options],
            catch_exceptions=False,
        )
    assert not (tmp_path / "out").exists()


def test_what_is_found_reads_back_as_settings(tmp_path):
    found = search(SMALL, tmp_path, LearnedParams(), known_cost, silent, 1)
    table = tomllib.loads((tmp_path / "learned.toml").read_text())["learned"]
    assert table["least_gain_minutes"] == found.least_gain_minutes
    assert table["weights"]["observer"] == found.weights.observer
    assert tomllib.loads(toml_of(found))["learned"] == table
    kept = json.loads((tmp_path / "evolution.json").read_text())
    assert len(kept["generations"]) == SMALL.num_generations
