"""The only place that joins a port to its implementation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache, partial
from pathlib import Path
from typing import Any

from doseflow import __version__
from doseflow.access.sign_in import SignIn
from doseflow.appointment_doors import open_appointments
from doseflow.dispatch.gateway_line import GatewayLine
from doseflow.domain.city import City
from doseflow.domain.plan import RepairPath
from doseflow.errors import DoseflowError, SettingsWrong
from doseflow.feasible.layer import FeasibleLayer
from doseflow.forecast.bookings_first import BookingsFirst
from doseflow.forecast.last_value import LastValue
from doseflow.forecast.net_inputs import NET_INPUT_AXES, NET_INPUTS_VERSION
from doseflow.forecast.seasonal_naive import SeasonalNaive
from doseflow.gateways.oidc_provider import OidcProvider
from doseflow.gateways.web_push import public_key_of
from doseflow.intake.logger_table import LoggerTable, read_logger_table
from doseflow.live.clocks import WallClock
from doseflow.live.event_feed import EventFeed
from doseflow.live.gateway_counts import GatewayCounts
from doseflow.live.live_city import LiveCity
from doseflow.live.model_counts import ModelCounts
from doseflow.live.push_desk import PushDesk
from doseflow.live.sources import Sources
from doseflow.nets import LiveNets, learned_forecast, learned_policy, live_nets, replay_nets
from doseflow.order_gateways import make_lines
from doseflow.pipeline import Planner
from doseflow.policy.c_mu import CMuParams, c_mu_moves
from doseflow.policy.index_exchange import IndexParams, index_moves
from doseflow.policy.max_pressure import MaxPressureParams, max_pressure_moves
from doseflow.policy.mpc.mpc_staffing import mpc_staffing, myopic_staffing, scenario_staffing
from doseflow.policy.mpc.params import MpcParams, MyopicParams, ScenarioParams
from doseflow.policy.proportional import ProportionalParams, proportional_moves
from doseflow.policy.rules_policy import RulesPolicy
from doseflow.policy.site_values import FEATURES_INPUT
from doseflow.policy.site_view import SITE_VIEW_AXES, SITE_VIEW_VERSION
from doseflow.policy.staffing_rule import StaffingRule
from doseflow.policy.static_roster import StaticRoster
from doseflow.ports import Clock, Forecaster, Policy
from doseflow.serve.engine_params import EngineParams
from doseflow.serve.engine_process import why_it_rests
from doseflow.serve.opened_model import PACKAGED_BUNDLES, OpenedModel, open_model
from doseflow.settings import Settings
from doseflow.simulate.city_choice import city_from_name
from doseflow.state.arrival_history import ArrivalHistory
from doseflow.store.engine import Store, open_store
from doseflow.store.retention import Forgotten
from doseflow.telemetry.metrics import make_metrics
from doseflow.telemetry.tracing import http_exporter, tracing_to
from doseflow.units import PERIOD_MINUTES

HISTORY_WEEKS = 4


def _with_staffing(settings: Settings, name: str, staffing: StaffingRule) -> Policy:
    return RulesPolicy(settings.rules, name=name, staffing=staffing)


_POLICIES: dict[str, Callable[[Settings], Policy]] = {
    "rules": lambda settings: RulesPolicy(settings.rules),
    "static": lambda _settings: StaticRoster(),
    "proportional": lambda settings: _with_staffing(
        settings, "proportional", partial(proportional_moves, params=ProportionalParams())
    ),
    "max_pressure": lambda settings: _with_staffing(
        settings, "max_pressure", partial(max_pressure_moves, params=MaxPressureParams())
    ),
    "c_mu": lambda settings: _with_staffing(settings, "c_mu", partial(c_mu_moves, params=CMuParams())),
    "index": lambda settings: _with_staffing(settings, "index", partial(index_moves, params=IndexParams())),
    "lp": lambda settings: _with_staffing(settings, "lp", myopic_staffing(MyopicParams())),
    "mpc6": lambda settings: _with_staffing(settings, "mpc6", mpc_staffing(MpcParams(num_periods=6))),
    "mpc12": lambda settings: _with_staffing(settings, "mpc12", mpc_staffing(MpcParams(num_periods=12))),
    "scenario_mpc": lambda settings: _with_staffing(settings, "scenario_mpc", scenario_staffing(ScenarioParams())),
    "learned": lambda settings: learned_policy(settings, open_policy(settings).door()),
}


def _learned_forecast(settings: Settings) -> Forecaster:
    opened = open_forecaster(settings)
    return learned_forecast(settings, opened.door(), opened.bundle.manifest.max_sites)


_FORECASTERS: dict[str, Callable[[Settings], Forecaster]] = {
    "learned": _learned_forecast,
    "bookings_first": lambda settings: BookingsFirst(settings.forecast),
    "seasonal_naive": lambda settings: SeasonalNaive(settings.forecast),
    "last_value": lambda _settings: LastValue(),
}


@dataclass
class OpenCity:
    """A living city with the resources that must be closed after it."""

    live: LiveCity
    store: Store
    gateways: tuple[GatewayLine, ...]
    settings: Settings
    nets: LiveNets
    sign_in: SignIn | None = None

    def forget_old(self) -> Forgotten:
        """Let go of what the settings no longer keep; how many rows."""
        return self.store.retention.forget(self.live.clock.now(), self.settings.store.keep)

    def close(self) -> None:
        """End the events, let go of the nets and close the store."""
        self.live.feed.close()
        self.nets.close()
        self.store.close()


def make_planner(settings: Settings, *, repair_path: RepairPath | None = None) -> Planner:
    """
    The planner that the settings name; `repair_path` makes a replay take the recorded path of the repair.

    Raises
    ------
    SettingsWrong
        No planner or no forecaster has the name.
    ModelWrong, EngineUnfit, EngineFailed
        The bundle of the learned forecaster or of the learned planner cannot be used.
    """
    if settings.planner not in _POLICIES:
        raise SettingsWrong(f"planner: must be one of {', '.join(_POLICIES)}, got {settings.planner!r}")
    if settings.forecaster not in _FORECASTERS:
        raise SettingsWrong(f"forecaster: must be one of {', '.join(_FORECASTERS)}, got {settings.forecaster!r}")
    feasible = settings.feasible if repair_path is None else replace(settings.feasible, force_path=repair_path)
    return Planner(
        forecaster=_FORECASTERS[settings.forecaster](settings),
        policy=_POLICIES[settings.planner](settings),
        feasible=FeasibleLayer(feasible),
    )


def make_replay_planner(
    settings: Settings, models: Mapping[str, Mapping[str, Any]], *, repair_path: RepairPath | None = None
) -> Planner:
    """
    The planner of the settings with the models that a kept cycle names, by net.

    Raises
    ------
    SettingsWrong, ModelNotFound, ModelWrong, EngineUnfit, EngineFailed
    """
    return replay_nets(settings, make_planner(settings, repair_path=repair_path), models, _packaged(settings))


def _packaged(settings: Settings) -> dict[str, Callable[[], OpenedModel]]:
    return {"forecaster": partial(open_forecaster, settings), "policy": partial(open_policy, settings)}


def forecaster_bundle(settings: Settings) -> Path:
    """Folder of the arrival net's bundle."""
    chosen = settings.bundles.forecaster
    return PACKAGED_BUNDLES / "forecaster" if chosen is None else Path(chosen)


def open_forecaster(settings: Settings) -> OpenedModel:
    """
    The arrival net of the settings, which a process opens once.

    Raises
    ------
    ModelWrong, EngineUnfit, EngineFailed
        The bundle cannot be used, or no engine can run it here.
    """
    folder = forecaster_bundle(settings).absolute()
    return _open_once(folder, NET_INPUTS_VERSION, tuple(NET_INPUT_AXES.items()), settings.engines)


def policy_bundle(settings: Settings) -> Path:
    """Folder of the site value net's bundle."""
    chosen = settings.bundles.policy
    return PACKAGED_BUNDLES / "policy" if chosen is None else Path(chosen)


def open_policy(settings: Settings) -> OpenedModel:
    """
    The site value net of the settings, which a process opens once.

    Raises
    ------
    ModelWrong, EngineUnfit, EngineFailed
        The bundle cannot be used, or no engine can run it here.
    """
    folder = policy_bundle(settings).absolute()
    axes = ((FEATURES_INPUT, SITE_VIEW_AXES),)
    return _open_once(folder, SITE_VIEW_VERSION, axes, settings.engines)


@cache
def _open_once(folder: Path, version: int, axes: tuple[tuple[str, str], ...], params: EngineParams) -> OpenedModel:
    return open_model(folder, feature_schema_version=version, input_axes=dict(axes), params=params)


def _why_engines_rest(settings: Settings) -> str:
    opened = [open_forecaster(settings)] if settings.forecaster == "learned" else []
    opened += [open_policy(settings)] if settings.planner == "learned" else []
    return "; ".join(why for one in opened if (why := why_it_rests(one.engine)))


def open_city(settings: Settings, *, clock: Clock | None = None, city: City | None = None) -> OpenCity:
    """
    Open the store and bring the city to life where it stood.

    Raises
    ------
    CityWrong, SettingsWrong, ModelWrong, EngineUnfit, EngineFailed, EnvironmentUnfit, StoreUnavailable
    """
    clock = clock or WallClock()
    city = city or city_from_name(settings.city)
    metrics = make_metrics()
    nets = live_nets(settings, clock, make_planner(settings), _packaged(settings), metrics.engines)
    store = open_store(settings.store.url)
    try:
        gateways = make_lines(settings, city, store.push, clock)
    except DoseflowError:
        nets.close()
        store.close()
        raise
    store.outbox.set_up_gateways([line.name for line in gateways], clock.now())
    live = LiveCity(
        city,
        planner=nets.planner,
        reports=store.reports,
        plans=store.plans,
        outbox=store.outbox,
        audit=store.audit,
        desk=store.desk,
        approvals=settings.approvals,
        clock=clock,
        history=load_history(store, city, clock),
        intake=settings.intake,
        sources=_sources(settings, store, city),
        feed=EventFeed(),
        metrics=metrics,
        tellers=(ModelCounts(nets.desks).tell, GatewayCounts(gateways, store.outbox, clock).tell),
        releases=nets.desks,
        after_cycle=nets.after_cycle,
        answer_seconds=settings.engines.deadline_milliseconds / 1000,
        why_engines_rest=partial(_why_engines_rest, settings),
    )
    open_appointments(live, store, settings)
    private_key = settings.gateways.push.private_key
    if private_key is not None:
        live.push = PushDesk(public_key_of(private_key.get_secret_value()), store.push)
    return OpenCity(live, store, gateways, settings, nets, open_sign_in(settings, store))


def open_sign_in(settings: Settings, store: Store) -> SignIn | None:
    """
    Who knows callers, where the settings say that they must sign in.

    Raises
    ------
    SettingsWrong, EnvironmentUnfit
    """
    params = settings.sign_in
    if not params.is_on:
        return None
    provider = None if params.provider.issuer is None else OidcProvider(params.provider)
    return SignIn(params, sessions=store.sessions, keys=store.keys, audit=store.audit, provider=provider)


def _sources(settings: Settings, store: Store, city: City) -> Sources:
    params = settings.sources
    try:
        table = read_logger_table(Path(params.loggers).read_bytes(), city) if params.loggers else LoggerTable()
    except OSError as error:
        raise SettingsWrong(f"sources.loggers: {params.loggers} cannot be read ({error.strerror})") from error
    return Sources(store.sources, store.logger_points, table, params)


@contextmanager
def tracing(settings: Settings) -> Iterator[None]:
    """
    Traces of this process as the settings say, until it ends.

    Raises
    ------
    EnvironmentUnfit
        They are wanted and the libraries are not installed.
    """
    endpoint = settings.tracing.endpoint
    with tracing_to(http_exporter(endpoint), __version__) if endpoint else nullcontext():
        yield


def load_history(store: Store, city: City, clock: Clock) -> ArrivalHistory:
    """Arrivals of the past weeks, as far as the store has them."""
    end = clock.now()
    start = end - timedelta(weeks=HISTORY_WEEKS, hours=1)
    start -= timedelta(minutes=start.minute % PERIOD_MINUTES, seconds=start.second, microseconds=start.microsecond)
    history = ArrivalHistory(city, start)
    history.load(store.reports.arrivals_between(city, start, end), start)
    return history
