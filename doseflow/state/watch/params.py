"""How sure the watch must be, and what it takes for possible."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

PERIODS_PER_DAY = 288
TESTS_PER_SITE = 10
"""Tests that look at each site in a period: four runs, two sides of two balances, the neighbours, its fridges' four."""


@dataclass(frozen=True, slots=True)
class WatchParams:
    """
    Parameters of the watch.

    Parameters
    ----------
    false_alarms_per_site_day
        What all tests by probability of a site together may give on a day of true readings, shared out evenly.
    least_dispersion_arrivals, least_dispersion_doses
        Variance over mean of a count of one period. Independent comers have 1; booked ones less. Services of
        coefficient of variation c have c squared in the long run (D. R. Cox, Renewal Theory, 1962, section 3.3); c is
        0.25 for 3 min + Exp(1 min).
    pooled_strength
        Readings that the prior chance of a repeat counts for, against those learned.
    caution_exponent
        Chances of a repeat are taken to this power, since sites differ; below 1 is more careful.
    patient_minutes, impatient_minutes
        Wait below which few leave unserved, and at which all may.
    leaving_share
        People who may turn away at the door or leave a short queue, share of arrivals.
    leaving_of_queue_share
        People of a long queue who may leave it in one period.
    balance_slack_people
        Miscount that a balance forgives.
    vial_overfill_share
        Doses drawn beyond the label: a sixth from a vial of five is 0.2.
    transfer_hours
        A delivery that was ordered may show in the stock so long after it was last seen open.
    fridge_sd_celsius, fridge_strength
        Prior noise of a temperature from one period to the next, and the readings that it counts for.
    cooling_minutes, warming_celsius_per_minute
        Shortest time constant of a running fridge, fastest warming of one that stands still.
    door_celsius_per_dose
        Warming of the air for each dose fetched.
    silent_share
        Prior share of a site's reports that leave out a fridge.
    quiet_ratio
        Arrivals over expected ones that the neighbours' test looks for.
    expected_discount
        Expected arrivals are counted by this share, since no pattern fits every site.
    hold_minutes
        An anomaly ends so long after the last reading that spoke for it.
    """

    false_alarms_per_site_day: float = 0.01
    least_dispersion_arrivals: float = 0.5
    least_dispersion_doses: float = 0.06
    pooled_strength: float = 50.0
    caution_exponent: float = 0.8
    patient_minutes: float = 30.0
    impatient_minutes: float = 150.0
    leaving_share: float = 0.05
    leaving_of_queue_share: float = 0.04
    balance_slack_people: float = 3.0
    vial_overfill_share: float = 0.2
    transfer_hours: float = 2.0
    fridge_sd_celsius: float = 0.4
    fridge_strength: float = 12.0
    cooling_minutes: float = 10.0
    warming_celsius_per_minute: float = 0.06
    door_celsius_per_dose: float = 0.03
    silent_share: float = 0.05
    quiet_ratio: float = 0.1
    expected_discount: float = 0.5
    hold_minutes: float = 60.0

    def __post_init__(self) -> None:
        for name in ("false_alarms_per_site_day", "caution_exponent", "expected_discount", "quiet_ratio"):
            if not 0 < getattr(self, name) <= 1:
                raise ValueError(f"{name}: must lie in 0..1 and not be 0, got {getattr(self, name)}")
        for name in ("silent_share", "leaving_share", "leaving_of_queue_share", "vial_overfill_share"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name}: must lie in 0..1 and not be 1, got {getattr(self, name)}")
        if not 0 <= self.patient_minutes < self.impatient_minutes:
            raise ValueError(f"patient_minutes: must be below impatient_minutes, got {self.patient_minutes}")

    @property
    def chance(self) -> float:
        """Chance of a false alarm that one test has in one period."""
        return self.false_alarms_per_site_day / (PERIODS_PER_DAY * TESTS_PER_SITE)

    @property
    def log_threshold(self) -> float:
        """
        Log-likelihood that flags.

        The mean time between false alarms of a CUSUM of log-likelihood ratios is then at least 1 / `chance` periods
        (G. Lorden, Procedures for reacting to a change in distribution, Annals of Mathematical Statistics 42(6), 1971,
        doi:10.1214/aoms/1177693055).
        """
        return -math.log(self.chance)

    @property
    def normal_threshold(self) -> float:
        """Standard deviations, on either side, that a normal reading passes with `chance`."""
        return NormalDist().inv_cdf(1 - self.chance / 2)
