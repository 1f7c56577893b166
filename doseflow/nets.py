"""
The nets of a living city: opened from the settings or from the model store, guarded, released and tried.

What answers a city cannot wait, so every net here has a breaker and a deadline. Offline, where the same state must give
the same plan however slow the machine is, `bootstrap.make_planner` has neither.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from numpy.typing import NDArray

from doseflow.circuit_breaker import BreakerParams, CircuitBreaker
from doseflow.domain.cycle import Cycle
from doseflow.domain.forecast import HORIZON_PERIODS, QUANTILE_LEVELS
from doseflow.errors import SettingsWrong
from doseflow.forecast.bookings_first import BookingsFirst
from doseflow.forecast.learned_forecast import LearnedForecast, checked_quantiles
from doseflow.forecast.net_inputs import NET_INPUT_AXES, NET_INPUTS_VERSION, net_inputs
from doseflow.live.beside import Beside
from doseflow.live.forecaster_trial import ForecasterTrial
from doseflow.live.model_counts import tell_pair
from doseflow.live.policy_trial import PolicyTrial
from doseflow.live.released_forecaster import ReleasedForecaster
from doseflow.live.released_policy import ReleasedPolicy
from doseflow.pipeline import Planner
from doseflow.policy.learned_policy import LearnedPolicy
from doseflow.policy.plan_cost import plan_cost_minutes
from doseflow.policy.site_values import FEATURES_INPUT, checked_values
from doseflow.policy.site_view import SITE_VIEW_AXES, SITE_VIEW_VERSION
from doseflow.ports import Clock, Engine, Forecaster, Policy
from doseflow.serve.aliases import PACKAGED
from doseflow.serve.counted_engine import CountedEngine
from doseflow.serve.guarded_engine import AnswerCheck, GuardedEngine, WallSeconds
from doseflow.serve.model_store import ModelStore, require_same_manifest
from doseflow.serve.net_slot import FixedSlot, NetSlot, WarmModel, standing_of_record
from doseflow.serve.opened_model import OpenedModel, open_model
from doseflow.serve.release_desk import ReleaseDesk
from doseflow.serve.signatures import TrustedKeys
from doseflow.settings import Settings
from doseflow.telemetry.engine_metrics import EngineMetrics
from doseflow.telemetry.stopwatch import MonotonicClock

T = TypeVar("T")
REPLAY_MILLISECONDS = 60_000.0
"""Deadline of a replay, which must give the same plan however slow its machine is."""
Arrays = Mapping[str, NDArray[Any]]
OpenPackaged = Callable[[], OpenedModel]


def forecast_can_be_right(inputs: Arrays, outputs: Arrays) -> None:
    """
    What every answer of the arrival net must be, about the sites that there are.

    Raises
    ------
    EngineFailed
    """
    num_sites, num_levels = int(inputs["site_mask"].sum()), len(QUANTILE_LEVELS)
    checked_quantiles(outputs, "arrivals_people", num_sites, (HORIZON_PERIODS, num_levels))
    checked_quantiles(outputs, "doses_rest_of_day", num_sites, (num_levels,))


def values_can_be_right(inputs: Arrays, outputs: Arrays) -> None:
    """
    What every answer of the site value net must be.

    Raises
    ------
    EngineFailed
    """
    checked_values(outputs, len(inputs[FEATURES_INPUT]))


@dataclass(frozen=True)
class NetKind:
    """What a net must fit: the arrays that it is fed, and what its answers must be."""

    feature_schema_version: int
    input_axes: Mapping[str, str]
    check: AnswerCheck


NET_TO_KIND: Mapping[str, NetKind] = {
    "forecaster": NetKind(NET_INPUTS_VERSION, NET_INPUT_AXES, forecast_can_be_right),
    "policy": NetKind(SITE_VIEW_VERSION, {FEATURES_INPUT: SITE_VIEW_AXES}, values_can_be_right),
}


def learned_policy(settings: Settings, engine: Engine) -> Policy:
    """The learned policy round an engine."""
    return LearnedPolicy(engine, settings.rules, settings.learned)


def learned_forecast(settings: Settings, engine: Engine, max_sites: int) -> Forecaster:
    """The learned forecaster round an engine."""
    inputs_of = partial(net_inputs, params=settings.forecast.bookings)
    return LearnedForecast(engine, BookingsFirst(settings.forecast), inputs_of, max_sites)


def open_model_store(settings: Settings) -> ModelStore | None:
    """
    The model store of the settings; None where they name none.

    Raises
    ------
    InputWrong
        The trust file cannot be read.
    EnvironmentUnfit
    """
    models = settings.models
    if models.folder is None:
        return None
    trusted = TrustedKeys.none() if models.trusted_keys is None else TrustedKeys.read(Path(models.trusted_keys))
    return ModelStore(Path(models.folder), trusted, allows_unsigned=models.allow_unsigned)


def open_stored(settings: Settings, store: ModelStore, net: str, digest: str) -> OpenedModel:
    """
    Open a model of the store for a net; its files and its signature are checked first.

    Raises
    ------
    ModelNotFound, ModelWrong, EngineFailed
    """
    kind, model = NET_TO_KIND[net], store.verify(digest)
    opened = open_model(
        model.folder,
        feature_schema_version=kind.feature_schema_version,
        input_axes=kind.input_axes,
        params=settings.engines,
    )
    require_same_manifest(opened.bundle, model.manifest)
    return opened


@dataclass
class LiveNets:
    """The planner of a living city, and what watches the releases of its nets."""

    planner: Planner
    desks: dict[str, ReleaseDesk[Any]] = field(default_factory=dict)
    after_cycle: list[Callable[[Cycle], None]] = field(default_factory=list)
    beside: Beside | None = None

    def close(self) -> None:
        """End what runs beside the flow, and let go of the models."""
        if self.beside is not None:
            self.beside.close()
        for desk in self.desks.values():
            desk.slot.close()


def live_nets(
    settings: Settings, clock: Clock, planner: Planner, packaged: Mapping[str, OpenPackaged], engines: EngineMetrics
) -> LiveNets:
    """
    A planner whose nets are guarded, and follow the releases of the model store.

    Parameters
    ----------
    planner
        The same planner without guards; what no net does stays as it is.
    packaged
        By net, what opens the model of the settings.
    engines
        What answers and releases are counted by.

    Raises
    ------
    ModelWrong, EngineFailed, InputWrong, EnvironmentUnfit
    """
    nets = LiveNets(planner)
    uses = {"forecaster": settings.forecaster == "learned", "policy": settings.planner == "learned"}
    if not any(uses.values()):
        return nets
    store = open_model_store(settings)
    nets.beside = beside = Beside("release")
    if uses["forecaster"]:
        slot = _slot(
            "forecaster", settings, clock, store, packaged["forecaster"], partial(_forecaster_of, settings), engines
        )
        forecaster = ReleasedForecaster(slot)
        desk = ReleaseDesk(slot, settings.release, partial(tell_pair, engines, "forecaster"))
        nets.desks["forecaster"] = desk
        nets.after_cycle.append(ForecasterTrial(forecaster, desk, beside).after_cycle)
        nets.planner = replace(nets.planner, forecaster=forecaster)
    if uses["policy"]:
        slot_of_policy = _slot(
            "policy", settings, clock, store, packaged["policy"], partial(_policy_of, settings), engines
        )
        policy = ReleasedPolicy(slot_of_policy, settings.release.block_minutes)
        desk_of_policy = ReleaseDesk(slot_of_policy, settings.release, partial(tell_pair, engines, "policy"))
        nets.desks["policy"] = desk_of_policy
        trial = PolicyTrial(policy, desk_of_policy, planner.feasible, plan_cost_minutes, beside)
        nets.after_cycle.append(trial.after_cycle)
        nets.planner = replace(nets.planner, policy=policy)
    return nets


def replay_nets(
    settings: Settings,
    planner: Planner,
    records: Mapping[str, Mapping[str, Any]],
    packaged: Mapping[str, OpenPackaged],
) -> Planner:
    """
    A planner that asks the models that a kept cycle was planned with, each as long as it takes.

    Parameters
    ----------
    records
        `models` of the kept cycle, by net; a net without a record stays that of the settings.

    Raises
    ------
    SettingsWrong
        A model of the store was asked, and the settings name no store.
    ModelNotFound, ModelWrong, EngineFailed
        The model is not kept any more, or cannot be opened.
    """
    store = open_model_store(settings)
    patient = settings.model_copy(update={"breaker": BreakerParams(deadline_milliseconds=REPLAY_MILLISECONDS)})
    clock = WallSeconds()
    if "forecaster" in records and settings.forecaster == "learned":
        opens = _opens_warm(
            "forecaster", patient, clock, store, packaged["forecaster"], partial(_forecaster_of, settings)
        )
        slot = FixedSlot(standing_of_record(records["forecaster"], opens))
        planner = replace(planner, forecaster=ReleasedForecaster(slot))
    if "policy" in records and settings.planner == "learned":
        opens_policy = _opens_warm("policy", patient, clock, store, packaged["policy"], partial(_policy_of, settings))
        slot_of_policy = FixedSlot(standing_of_record(records["policy"], opens_policy))
        planner = replace(planner, policy=ReleasedPolicy(slot_of_policy, settings.release.block_minutes))
    return planner


def _policy_of(settings: Settings, engine: Engine, _opened: OpenedModel) -> Policy:
    return learned_policy(settings, engine)


def _forecaster_of(settings: Settings, engine: Engine, opened: OpenedModel) -> Forecaster:
    return learned_forecast(settings, engine, opened.bundle.manifest.max_sites)


def _slot(
    net: str,
    settings: Settings,
    clock: Clock,
    store: ModelStore | None,
    open_packaged: OpenPackaged,
    answers_of: Callable[[Engine, OpenedModel], T],
    engines: EngineMetrics,
) -> NetSlot[T]:
    return NetSlot(net, store, _opens_warm(net, settings, clock, store, open_packaged, answers_of, engines), clock.now)


def _opens_warm(
    net: str,
    settings: Settings,
    clock: MonotonicClock,
    store: ModelStore | None,
    open_packaged: OpenPackaged,
    answers_of: Callable[[Engine, OpenedModel], T],
    engines: EngineMetrics | None = None,
) -> Callable[[str], WarmModel[T]]:
    def open_warm(digest: str) -> WarmModel[T]:
        if digest == PACKAGED:
            opened, which = open_packaged(), PACKAGED
        elif store is None:
            raise SettingsWrong(f"models.folder: must be set, since the model {digest[:12]} is needed")
        else:
            opened, which = open_stored(settings, store, net, digest), digest[:12]
        door = opened.door()
        asked = door if engines is None else CountedEngine(door, partial(engines.answered, net))
        guarded = GuardedEngine(asked, CircuitBreaker(settings.breaker, clock), NET_TO_KIND[net].check)
        label = f"{opened.bundle.manifest.name} {which}"
        return WarmModel(digest, label, guarded, answers_of(guarded, opened), opened.batcher)

    return open_warm
