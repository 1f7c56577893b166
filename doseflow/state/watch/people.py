"""
The balance of people: who waits now waited before or came, less who was served, less who left.

With Q people in the queues before the needle, A arrivals, D doses given, B people at a station before the needle and L
who left unserved, Q and B together change by A - D - L. So over any periods the sum of r = change of Q - A + D lies
between -B - L and B: exact counts never leave that band, whatever comes. Two one-sided sums (CUSUM, E. S. Page,
Biometrika 41, 1954, doi:10.1093/biomet/41.1-2.100) watch its edges, with B at most the open stations and L at most
what impatience allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from doseflow.domain.anomaly import AnomalyKind
from doseflow.domain.city import BoolArray, FloatArray
from doseflow.domain.feature_classes import FeatureClass
from doseflow.domain.roles import OBSERVATION_IDX
from doseflow.state.watch.findings import Finding
from doseflow.state.watch.params import WatchParams
from doseflow.state.watch.told import Told, or_nought

_CLASSES = (FeatureClass.ARRIVALS, FeatureClass.WAITING_BY_STAGE, FeatureClass.DOSES_GIVEN)


@dataclass(frozen=True)
class PeopleBalance:
    """
    Sums of people too many and too few, (S,), since when, and the most people at stations meanwhile.

    What fired begins again from 0.
    """

    too_many: FloatArray
    too_few: FloatArray
    many_since: FloatArray
    few_since: FloatArray
    many_posts: FloatArray
    few_posts: FloatArray


@dataclass(frozen=True)
class PeopleStep:
    """What one cycle adds: r, growth of the queues, people who sat down, and the bounds of both sums, all (S,)."""

    balance: PeopleBalance
    is_read: BoolArray
    residual: FloatArray
    grown: FloatArray
    sat_down: FloatArray
    many_bound: FloatArray
    few_bound: FloatArray


def no_balance(num_sites: int) -> PeopleBalance:
    """Nothing was counted yet."""
    zeros, unknown = np.zeros(num_sites), np.full(num_sites, np.nan)
    return PeopleBalance(zeros, zeros, unknown, unknown, zeros, zeros)


def go_on_people(previous: PeopleBalance, told: Told, is_running: BoolArray, params: WatchParams) -> PeopleStep:
    """
    The sums after a cycle; where a report is missing they begin again.

    Parameters
    ----------
    is_running
        Sites that are open, (S,): past closing people are sent home, before opening they may be turned away.
    """
    before, now = told.before, told.now
    queue_before, queue = before.waiting[:, :OBSERVATION_IDX].sum(axis=1), now.waiting[:, :OBSERVATION_IDX].sum(axis=1)
    residual = queue - queue_before - now.arrivals + now.doses
    posts = np.fmax(before.posts, now.posts)
    is_read = told.follow(*_CLASSES) & ~np.isnan(residual + posts)
    residual, posts = np.where(is_read, residual, 0.0), np.where(is_read, posts, 0.0)
    leaving = _may_leave(told, queue, params)
    valid = before.valid[:, FeatureClass.WAITING_BY_STAGE]
    many, many_since, many_posts = _sum(
        previous.too_many, previous.many_since, previous.many_posts, residual, posts, valid, is_read
    )
    few, few_since, few_posts = _sum(
        previous.too_few,
        previous.few_since,
        previous.few_posts,
        -residual - leaving,
        posts,
        valid,
        is_read & is_running,
    )
    return PeopleStep(
        balance=PeopleBalance(many, few, many_since, few_since, many_posts, few_posts),
        is_read=is_read,
        residual=residual,
        grown=queue - queue_before,
        sat_down=now.waiting[:, OBSERVATION_IDX] - before.waiting[:, OBSERVATION_IDX],
        many_bound=many_posts + params.balance_slack_people,
        few_bound=few_posts + params.balance_slack_people,
    )


def _sum(
    total: FloatArray,
    since: FloatArray,
    posts_so_far: FloatArray,
    added: FloatArray,
    posts: FloatArray,
    valid: FloatArray,
    is_read: BoolArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    begins = total <= 0
    total = np.where(is_read, np.maximum(total + added, 0.0), 0.0)
    return total, np.where(begins, valid, since), np.where(begins, posts, np.maximum(posts_so_far, posts))


def _may_leave(told: Told, queue: FloatArray, params: WatchParams) -> FloatArray:
    """People who may have gone unserved in a period, (S,): few from a short wait, and the more the longer it is."""
    wait = np.fmax(told.before.wait_minutes, told.now.wait_minutes)
    impatience = np.clip((wait - params.patient_minutes) / (params.impatient_minutes - params.patient_minutes), 0, 1)
    impatience = np.where(np.isnan(wait), 1.0, impatience)
    at_the_door = told.now.arrivals * np.maximum(params.leaving_share, impatience)
    in_the_queue = np.where(impatience > 0, queue * params.leaving_of_queue_share, 0.0)
    leaving: FloatArray = or_nought(at_the_door) + or_nought(in_the_queue)
    return leaving


def begun_again(step: PeopleStep) -> PeopleBalance:
    """The sums to go on with: what fired begins from 0."""
    balance = step.balance
    return PeopleBalance(
        np.where(balance.too_many > step.many_bound, 0.0, balance.too_many),
        np.where(balance.too_few > step.few_bound, 0.0, balance.too_few),
        balance.many_since,
        balance.few_since,
        balance.many_posts,
        balance.few_posts,
    )


def people_findings(step: PeopleStep, told: Told) -> Iterator[Finding]:
    """Balances out of their band; a jump of one period is named for what jumped."""
    now, balance = told.now, step.balance
    posts = np.where(step.is_read, balance.many_posts, 0.0)
    slack = step.many_bound - posts
    is_seat_jump = step.is_read & (step.sat_down > now.doses + posts + slack)
    is_many = balance.too_many > step.many_bound
    is_queue_jump = is_many & (step.grown - now.arrivals > step.many_bound)
    is_dose_jump = is_many & ~is_queue_jump & (step.residual > step.many_bound)
    for site_idx in np.flatnonzero(is_many | is_seat_jump | (balance.too_few > step.few_bound)).tolist():
        valid = float(now.valid[site_idx, FeatureClass.WAITING_BY_STAGE])
        seen = {"arrivals_people": float(now.arrivals[site_idx]), "doses_given": float(now.doses[site_idx])}
        if is_queue_jump[site_idx] or is_seat_jump[site_idx]:
            grown = max(step.grown[site_idx], step.sat_down[site_idx])
            evidence = seen | {"grown_people": float(grown)}
            yield Finding(AnomalyKind.QUEUE_JUMP, FeatureClass.WAITING_BY_STAGE, site_idx, valid, evidence)
        elif is_dose_jump[site_idx]:
            evidence = seen | {"grown_people": float(step.grown[site_idx])}
            yield Finding(AnomalyKind.DOSES_WITHOUT_PEOPLE, FeatureClass.DOSES_GIVEN, site_idx, valid, evidence)
        elif is_many[site_idx]:
            evidence = {"people": float(balance.too_many[site_idx])}
            since = float(balance.many_since[site_idx])
            yield Finding(AnomalyKind.PEOPLE_FROM_NOWHERE, FeatureClass.ARRIVALS, site_idx, since, evidence)
        else:
            evidence = {"people": float(balance.too_few[site_idx])}
            since = float(balance.few_since[site_idx])
            yield Finding(AnomalyKind.PEOPLE_VANISH, FeatureClass.ARRIVALS, site_idx, since, evidence)
