import copy
from datetime import UTC, datetime, timedelta

import pytest

from doseflow.domain.anomaly import Anomaly, AnomalyKind
from doseflow.domain.feature_classes import FeatureClass
from doseflow.evaluate.anomalies.faults import Fault, FaultKind
from doseflow.evaluate.anomalies.measuring import FIRST_DEVELOPMENT_SEED, FIRST_FINAL_SEED, RATES, SeedScore, figures_of
from doseflow.evaluate.anomalies.scores import DayScore, FaultScore, score_day
from doseflow.simulate.city_choice import city_from_name
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.simulate.report_faults import NO_FAULTS
from doseflow.simulate.reporting import report_payloads

NOON = datetime(2021, 5, 20, 10, 0, tzinfo=UTC)
CITY = city_from_name("synthetic:3")
SITE = CITY.sites[0]


def fault_of(kind: FaultKind, fridge_id: str | None = None) -> Fault:
    return Fault(kind, 0, fridge_id, NOON, NOON + timedelta(hours=2))


def flag(minutes: float, *, site_idx: int = 0, fridge_id: str | None = None) -> Anomaly:
    seen_at = NOON + timedelta(minutes=minutes)
    return Anomaly(
        f"{minutes}{fridge_id}", CITY.sites[site_idx].site_id, fridge_id, AnomalyKind.STUCK_READING,
        FeatureClass.ARRIVALS, seen_at, seen_at, seen_at, None, {}, "", "",
    )  # fmt: skip


@pytest.fixture(scope="module")
def payload():
    city = SimulatedCity.from_name("synthetic:3", faults=NO_FAULTS)
    city.advance(120)
    return report_payloads(city.world, city._five_minutes_ago, city._reporters)[0]


@pytest.mark.parametrize("kind", list(FaultKind))
def test_a_fault_changes_its_report_and_not_the_true_one(kind, payload):
    fault, later = fault_of(kind, payload["fridges"][0]["fridge_id"]), copy.deepcopy(payload)
    later |= {"arrivals_people": 77, "doses_given": 55, "valid_at": "later"}
    later["waiting_people"]["registration"] += 33
    later["lots"][0]["unopened_doses"] -= 6
    later["fridges"][0]["temperature_celsius"] += 0.7
    kept = copy.deepcopy((payload, later))
    fault.broken(payload)
    broken = fault.broken(later)
    assert (payload, later) == kept
    assert broken != later
    assert broken["valid_at"] == "later"


def test_the_first_flag_of_a_fault_is_right_and_a_second_one_and_one_elsewhere_are_not():
    score = score_day([fault_of(FaultKind.ARRIVALS_STUCK)], [flag(40), flag(90), flag(50, site_idx=1)], CITY)
    assert score.faults == (FaultScore(FaultKind.ARRIVALS_STUCK, 40.0),)
    assert (score.num_flags, len(score.false_flags)) == (3, 2)


@pytest.mark.parametrize(("minutes", "is_found"), [(-1, False), (0, True), (150, True), (151, False)])
def test_a_flag_counts_from_the_fault_until_half_an_hour_after_it(minutes, is_found):
    score = score_day([fault_of(FaultKind.DOSES_STUCK)], [flag(minutes)], CITY)
    assert (score.faults[0].delay_minutes is not None) is is_found


def test_a_flag_of_the_site_does_not_find_a_fault_of_its_fridge():
    fridge_id = SITE.fridges[0].fridge_id
    fault = fault_of(FaultKind.LOGGER_STUCK, fridge_id)
    assert score_day([fault], [flag(5)], CITY).faults[0].delay_minutes is None
    assert score_day([fault], [flag(5, fridge_id=fridge_id)], CITY).faults[0].delay_minutes == 5


def test_figures_are_ratios_of_sums_over_the_seeds():
    kind = FaultKind.STOCK_RISE
    found, missed = FaultScore(kind, 10.0), FaultScore(kind, None)
    clean, wrong = DayScore((), 0, ()), DayScore((), 1, ("x",))
    good, poor = DayScore((found,), 1, ()), DayScore((found, missed, missed), 3, ("x", "y"))
    ways = ("none", "ordinary")
    one = SeedScore(1, 10, dict.fromkeys(ways, clean), dict.fromkeys(RATES, good))
    other = SeedScore(2, 10, dict.fromkeys(ways, wrong), dict.fromkeys(RATES, poor))
    figures = {(one.name, one.params.get("rate"), one.params.get("kind")): one for one in figures_of([one, other], "c")}
    assert figures["false_alarms_per_site_day", None, None].value == pytest.approx(1 / 20)
    assert figures["anomaly_precision_share", 0.01, "all"].value == pytest.approx(2 / 4)
    assert figures["anomaly_recall_share", 0.01, "all"].value == pytest.approx(2 / 4)
    assert figures["anomaly_delay_minutes", "all", "stock_rise"].value == 10


def test_final_seeds_are_none_that_the_watch_was_tuned_on():
    assert FIRST_FINAL_SEED - FIRST_DEVELOPMENT_SEED >= 1000
