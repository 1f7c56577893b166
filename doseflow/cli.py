"""
The command line. Exit codes: 0 done, 1 the answer is no (a gate failed, nothing found), 2 the input was wrong.

Each command is a few lines: it reads its options and calls the room that does the work. Over 500 lines, since all
commands without a module of their own stand here; a further one gets its own.
"""

from __future__ import annotations

import asyncio
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import orjson
import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, TaskID
from rich.table import Table

from doseflow import __version__
from doseflow.audit_commands import audit
from doseflow.backtest.command import look_back
from doseflow.caller_commands import keys, users
from doseflow.engine_command import engine
from doseflow.errors import DoseflowError, InputWrong, NotFound
from doseflow.inference_commands import register as register_inference
from doseflow.interfaces.command import interfaces
from doseflow.models import models
from doseflow.orders_command import orders
from doseflow.panels.command import draw_dashboards
from doseflow.store_command import store
from doseflow.telemetry.logs import configure_logs
from doseflow.train_commands import train

app = typer.Typer(
    name="doseflow",
    help="Real-time scheduling for a city's vaccination sites: reports in, orders out, within 100 ms.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
bench = typer.Typer(help="Benchmarks: figures measured in one run.", no_args_is_help=True)
config = typer.Typer(help="Settings.", no_args_is_help=True)
app.add_typer(bench, name="bench")
app.add_typer(config, name="config")
app.add_typer(train, name="train")
app.add_typer(models, name="models")
app.add_typer(engine, name="engine")
app.add_typer(audit, name="audit")
app.add_typer(store, name="store")
app.add_typer(interfaces, name="interfaces")
app.add_typer(users, name="users")
app.add_typer(keys, name="keys")
app.add_typer(orders, name="orders")
register_inference(app, bench)
app.command("dashboards")(draw_dashboards)
app.command("backtest")(look_back)

out = Console(soft_wrap=True)
err = Console(stderr=True, soft_wrap=True)

CityName = Annotated[str, typer.Option("--city", help="czech, synthetic:N, or a city file.")]
JsonPath = Annotated[Path | None, typer.Option("--json", help="Also write it there, as JSON.")]


@app.command()
def demo(
    city: CityName = "czech",
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Port of the dashboard on 127.0.0.1.")] = None,
    seed: Annotated[int, typer.Option(min=0)] = 1,
    seconds_per_cycle: Annotated[
        float, typer.Option(min=0, max=300, help="Real seconds for five simulated minutes.")
    ] = 5.0,
    cycles: Annotated[int | None, typer.Option(min=1, help="Stop after so many cycles.")] = None,
    folder: Annotated[Path, typer.Option(help="Where the demo keeps its database.")] = Path("var"),
) -> None:
    """Run the whole system on the packaged real data, with a dashboard."""
    from doseflow.bootstrap import tracing
    from doseflow.demo.run import DemoChoice, run_demo
    from doseflow.settings import read_settings

    settings = read_settings()
    if port is not None:
        settings = settings.model_copy(update={"http": settings.http.model_copy(update={"port": port})})
    with _until_interrupted(), tracing(settings):
        run_demo(DemoChoice(city, seed, seconds_per_cycle, cycles, folder), settings, out)


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on; loopback unless said.")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535)] = None,
) -> None:
    """Serve a real city: reports over HTTP, a cycle every five minutes, orders out."""
    from doseflow.bootstrap import open_city, tracing
    from doseflow.live.machine_needs import require_free_port
    from doseflow.settings import read_settings, require_sign_in_on_a_network
    from doseflow.web.server import serve_until_stopped

    settings = read_settings()
    given = {key: value for key, value in {"host": host, "port": port}.items() if value is not None}
    settings = settings.model_copy(update={"http": settings.http.model_copy(update=given)})
    require_sign_in_on_a_network(settings)
    require_free_port(settings.http.host, settings.http.port)
    opened = open_city(settings)
    scheme = "http" if settings.http.tls_certificate is None else "https"
    try:
        address = f"{scheme}://{settings.http.host}:{settings.http.port}"
        out.print(f"doseflow serves {opened.live.city.name} at {address}; Ctrl-C stops")
        with _until_interrupted(), tracing(settings):
            asyncio.run(serve_until_stopped(opened))
    finally:
        opened.close()


@app.command()
def plan(
    state: Annotated[Path, typer.Option("--state", help="A state file: city, moment, reports.")],
    language: Annotated[str, typer.Option(help="en or zh.")] = "en",
    explain: Annotated[
        bool, typer.Option("--explain", help="Also what each order should bring, and its best alternative.")
    ] = False,
    json_path: JsonPath = None,
) -> None:
    """Plan one snapshot offline and explain each order in a sentence."""
    from doseflow.planning import plan_snapshot, print_plan
    from doseflow.settings import read_settings

    outcome = plan_snapshot(_read(state), read_settings())
    if json_path is not None:
        json_path.write_bytes(orjson.dumps(outcome.as_json(), option=orjson.OPT_INDENT_2))
    print_plan(outcome, language, out, with_effects=explain)
    if outcome.cycle.infeasible is not None:
        raise typer.Exit(1)


@app.command()
def replay(
    cycle: Annotated[str, typer.Argument(help="Id of a kept cycle, or `latest`.")],
    store: Annotated[str | None, typer.Option(help="Store, for example sqlite:///var/demo-8080.sqlite.")] = None,
) -> None:
    """Plan a kept cycle again from its stored inputs; exit 1 when another plan comes out."""
    from doseflow.planning import replay_cycle
    from doseflow.settings import read_settings

    settings = read_settings()
    outcome = replay_cycle(cycle, store or settings.store.url, settings)
    out.print(f"cycle {outcome.cycle_id}: {len(outcome.plan.decisions)} decisions, digest {outcome.digest[:16]}")
    if not outcome.is_same:
        err.print(f"a different plan came out: kept {outcome.kept_digest[:16]}, now {outcome.digest[:16]}")
        raise typer.Exit(1)
    out.print("the same plan")


@app.command()
def doctor(
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8080, folder: Annotated[Path, typer.Option()] = Path("var")
) -> None:
    """Say whether this machine can run doseflow, and what is missing."""
    from doseflow.doctor import examine
    from doseflow.settings import read_settings

    findings = examine(port, folder, read_settings())
    table = Table("what", "found", "verdict")
    for finding in findings:
        verdict = "[green]good[/green]" if finding.is_good else f"[red]{escape(finding.advice)}[/red]"
        table.add_row(finding.what, escape(finding.found), verdict)
    out.print(table)
    if not all(finding.is_good or finding.is_optional for finding in findings):
        raise typer.Exit(1)


@app.command()
def forecast(
    history: Annotated[Path, typer.Option(help="CSV of series_id,timestamp,value; .gz too.")],
    horizon: Annotated[int, typer.Option(help="Steps beyond the last timestamp of each series.")],
    out_path: Annotated[Path, typer.Option("--out", help="Quantiles are written there, as CSV.")],
    json_path: Annotated[Path | None, typer.Option("--json", help="Also what was understood, and a back-test.")] = None,
) -> None:
    """Forecast any long table of any regular step: quantiles of the coming steps of each series."""
    from doseflow.bench.figures import Figure, write_figures
    from doseflow.forecasting import ForecastChoice, forecast_file

    for option, path in (("--out", out_path), ("--json", json_path)):
        _check_writable(option, path)
    with Progress(console=err, transient=True) as progress:
        outcome = forecast_file(ForecastChoice(history, horizon, out_path, json_path is not None), progress)
    if json_path is not None:
        write_figures(json_path, [Figure(**figure) for figure in outcome.figures])
    out.print(outcome.summary, markup=False, highlight=False)


@app.command()
def evaluate(
    planner: Annotated[
        list[str] | None, typer.Option(help="A planner; repeat it. All when left out. learned-moves: without a lever.")
    ] = None,
    suite: Annotated[str | None, typer.Option(help="heldout, training, czech or sizes; heldout when left out.")] = None,
    scenario: Annotated[list[Path] | None, typer.Option(help="A scenario file of your own; repeat it.")] = None,
    param: Annotated[
        list[str] | None, typer.Option(help="NAME=NUMBER: a value of the simulator, in every scenario; repeat it.")
    ] = None,
    against: Annotated[
        list[str] | None, typer.Option(help="Also give differences to this planner, beside the rules; repeat it.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, max=10_000, help="Days of each scenario.")] = 30,
    workers: Annotated[int, typer.Option(min=1, max=256, help="Processes.")] = 2,
    results: Annotated[Path, typer.Option(help="Finished runs are kept there; the same command goes on.")] = Path(
        "var/evaluate.jsonl"
    ),
    keep_old: Annotated[bool, typer.Option("--keep-old", help="Also count runs made by other code.")] = False,
    report: Annotated[Path | None, typer.Option(help="Also write a page of plots there, as HTML.")] = None,
    json_path: JsonPath = None,
) -> None:
    """Compare planners on the same simulated days; exit 1 when a run failed."""
    from doseflow.bench.figures import write_figures
    from doseflow.evaluate.command import EvaluateChoice, params_of
    from doseflow.evaluate.command import evaluate as play_and_compare
    from doseflow.evaluate.progress import RunProgress
    from doseflow.evaluate.report_page import require_report_libraries, write_report
    from doseflow.evaluate.table import print_comparison
    from doseflow.settings import read_settings

    if report is not None:
        require_report_libraries()
    for option, path in (("--json", json_path), ("--report", report)):
        _check_writable(option, path)
    choice = EvaluateChoice(
        planners=tuple(planner or ()),
        suite=suite,
        scenario_paths=tuple(scenario or ()),
        params=params_of(param or ()),
        against=tuple(against or ()),
        num_seeds=seeds,
        results=results,
        keep_old=keep_old,
        workers=workers,
    )
    try:
        with RunProgress(err) as progress:
            outcome = play_and_compare(choice, read_settings(), begin=progress.begin, advance=progress.advance)
    except KeyboardInterrupt:
        err.print("stopped; the same command goes on where it stopped")
        raise typer.Exit(1) from None
    figures = outcome.comparison.figures()
    print_comparison(outcome.comparison, out)
    if json_path is not None:
        write_figures(json_path, figures)
    if report is not None:
        write_report(report, outcome)
    for row in outcome.failed:
        err.print(f"failed: {row['planner']}, {row['scenario']}, seed {row['seed']}: {row['failed']}", markup=False)
    if outcome.failed:
        raise typer.Exit(1)


def _check_writable(option: str, path: Path | None) -> None:
    """
    Refuse a file that cannot be written, before hours of work end in it.

    Raises
    ------
    InputWrong
    """
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab"):
            pass
    except OSError as error:
        raise InputWrong(f"{option}: {path} cannot be written: {error.strerror}") from error


@bench.command("cycle")
def bench_cycle(
    sites: Annotated[
        list[int] | None, typer.Option(min=1, max=20_000, help="Sites (200); give it twice to see the growth.")
    ] = None,
    cycles: Annotated[int, typer.Option(min=20, max=100_000)] = 300,
    planner: Annotated[str, typer.Option()] = "rules",
    city: Annotated[str | None, typer.Option(help="czech, instead of a synthetic city.")] = None,
    by_processor: Annotated[
        bool, typer.Option("--processor-time", help="Time that the processor worked, for a machine that is busy.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0)] = 1,
    json_path: JsonPath = None,
) -> None:
    """Time from reports in to orders stored, by stage."""
    from doseflow.bench.cycle import figures_of, growth_exponents, measure_cycles
    from doseflow.bench.figures import write_figures
    from doseflow.bench.tables import print_figures
    from doseflow.settings import read_settings

    settings = read_settings(planner=planner)
    runs = []
    with Progress(console=err) as progress:
        for num_sites in sites or [200]:
            name = city or f"synthetic:{num_sites}"
            task = progress.add_task(f"{name}, {cycles} cycles", total=cycles)
            advance = partial(progress.advance, task)
            run = partial(measure_cycles, name, cycles, seed=seed, settings=settings, advance=advance)
            runs.append(run(by_processor=by_processor))
    figures = [figure for run in runs for figure in figures_of(run, planner=planner, seed=seed)]
    if len(runs) > 1:
        figures += growth_exponents(runs, planner=planner, seed=seed)
    print_figures(figures, out)
    if json_path is not None:
        write_figures(json_path, figures)


@bench.command("intake")
def bench_intake(
    rate: Annotated[float, typer.Option(min=1, max=1e6, help="Reports a second, sent whether answered or not.")] = 5000,
    batch: Annotated[list[int] | None, typer.Option(min=1, max=10_000, help="Reports a body; repeat it.")] = None,
    seconds: Annotated[float, typer.Option(min=1, max=3600)] = 20.0,
    sites: Annotated[int, typer.Option(min=1, max=5000)] = 200,
    store: Annotated[str | None, typer.Option(help="An empty database; a SQLite file of its own unless said.")] = None,
    seed: Annotated[int, typer.Option(min=0)] = 1,
    json_path: JsonPath = None,
) -> None:
    """How many reports a second a serving process takes, and how long each body waits."""
    from doseflow.bench.figures import Figure, write_figures
    from doseflow.bench.intake import figures_of, measure_intake
    from doseflow.bench.intake_load import Load
    from doseflow.bench.tables import print_figures

    _check_writable("--json", json_path)
    figures: list[Figure] = []
    for size in batch or [100]:
        with Progress(console=err, transient=True) as progress:
            task = progress.add_task(f"{rate:g} reports a second, {size} a body", total=seconds)
            load = Load(rate, size, seconds, sites, seed)
            run = measure_intake(load, store, partial(_advance_to, progress, task))
        figures += figures_of(run)
    print_figures(figures, out)
    if json_path is not None:
        write_figures(json_path, figures)


def _advance_to(progress: Progress, task: TaskID, completed: float) -> None:
    progress.update(task, completed=completed)


@bench.command("simulator")
def bench_simulator(
    sites: Annotated[
        list[int] | None, typer.Option(min=1, max=20_000, help="Sites (50, 200 and 1000); may be given several times.")
    ] = None,
    batch: Annotated[
        list[int] | None, typer.Option(min=1, max=100_000, help="Cities at once (1, 4 and 16), each of 200 sites.")
    ] = None,
    device: Annotated[str, typer.Option(help="numpy, or with torch installed: cpu, cuda.")] = "numpy",
    ciw: Annotated[bool, typer.Option(help="Live one day in Ciw too, if it is installed.")] = True,
    days: Annotated[int, typer.Option(min=1, max=1000, help="Days lived for each size.")] = 5,
    seed: Annotated[int, typer.Option(min=0)] = 1,
    json_path: JsonPath = None,
) -> None:
    """Time of a simulated day, against Ciw's, and cities at once on one device."""
    from doseflow.bench.figures import write_figures
    from doseflow.bench.simulator_run import simulator_figures
    from doseflow.bench.tables import print_figures

    with Progress(console=err) as progress:
        figures = simulator_figures(
            sites or [50, 200, 1000],
            batch or [1, 4, 16],
            device=device,
            with_ciw=ciw,
            num_days=days,
            seed=seed,
            report=lambda text: progress.console.print(text, highlight=False),
        )
    print_figures(figures, out)
    if json_path is not None:
        write_figures(json_path, figures)


@bench.command("anomalies")
def bench_anomalies(
    city: Annotated[str, typer.Option(help="czech or synthetic:N.")] = "synthetic:60",
    seeds: Annotated[int, typer.Option(min=2, max=1000, help="Days, one a seed.")] = 16,
    development: Annotated[bool, typer.Option("--development", help="The seeds that the watch was tuned on.")] = False,
    workers: Annotated[int, typer.Option(min=1, max=256, help="Processes.")] = 2,
    json_path: JsonPath = None,
) -> None:
    """Faults put into the reports of simulated days: how many the watch finds, how soon, and what it flags wrongly."""
    from doseflow.bench.tables import print_figures
    from doseflow.evaluate.anomalies.measuring import (
        FIRST_DEVELOPMENT_SEED,
        FIRST_FINAL_SEED,
        false_flag_kinds,
        figures_of,
        measure_seeds,
    )
    from doseflow.settings import read_settings

    _check_writable("--json", json_path)
    first = FIRST_DEVELOPMENT_SEED if development else FIRST_FINAL_SEED
    with Progress(console=err) as progress:
        task = progress.add_task(f"{seeds} days of {city}", total=seeds)
        scores = measure_seeds(
            range(first, first + seeds),
            city,
            read_settings(),
            workers=workers,
            advance=partial(progress.advance, task),
        )
    figures = figures_of(scores, city)
    print_figures(figures, out)
    for what, number in sorted(false_flag_kinds(scores).items()):
        out.print(f"flagged wrongly, {what}: {number}")


@bench.command("forecast")
def bench_forecast(
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the original series; DOSEFLOW_DATA, or shared/data beside the project, unless said."
        ),
    ] = None,
    series: Annotated[list[str] | None, typer.Option(help="A set of series; may be given several times.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="A model; may be given several times.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer sets, models and moments: under three minutes.")
    ] = False,
    part: Annotated[str, typer.Option(help="held-out, or development while something is being tuned.")] = "held-out",
    seed: Annotated[int, typer.Option(min=0)] = 1,
    json_path: JsonPath = None,
) -> None:
    """Our forecaster and its peers on real series they have not seen, with intervals."""
    from doseflow.bench.figures import write_figures
    from doseflow.bench.forecast.command import forecast_figures
    from doseflow.bench.forecast.run import ForecastTrial
    from doseflow.bench.forecast.series_set import Part
    from doseflow.bench.forecast.series_sets import data_folder

    if part not in list(Part):
        raise InputWrong(f"--part: must be one of {', '.join(Part)}, got {part!r}")
    _check_writable("--json", json_path)
    trial = ForecastTrial(data_folder(data), tuple(series or ()), tuple(model or ()), Part(part), quick, seed)
    figures = forecast_figures(trial, out, err)
    if json_path is not None:
        write_figures(json_path, figures)


@config.command("show")
def config_show() -> None:
    """Print the settings in force, as JSON."""
    from doseflow.settings import read_settings

    shown = read_settings().model_dump(mode="json")
    for owner, name in (
        (shown["webhook"], "secret"),
        (shown["sign_in"]["provider"], "client_secret"),
        (shown["mqtt_loggers"], "password"),
    ):
        if owner[name]:
            owner[name] = "***"
    shown["store"]["url"] = re.sub(r"(://[^:/@]+):[^@]+@", r"\1:***@", shown["store"]["url"])
    out.print_json(data=shown)


@app.command()
def version() -> None:
    """Print the version."""
    out.print(__version__)


def main() -> None:
    """Run the command line; what goes wrong on purpose becomes one sentence and an exit code."""
    configure_logs()
    # Also where a shell started us in the background and has SIGINT ignored, and for a plain `kill`.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        app()
    except NotFound as error:
        err.print(str(error), markup=False, highlight=False)
        raise SystemExit(1) from None
    except DoseflowError as error:
        err.print(str(error), markup=False, highlight=False)
        raise SystemExit(2) from None
    except OSError as error:
        if error.filename is None:
            raise
        err.print(f"{error.filename}: {error.strerror}", markup=False, highlight=False)
        raise SystemExit(2) from None
    except ModuleNotFoundError as error:
        err.print(
            f"the library {error.name} is missing; run `make setup`, or `pip install doseflow` again", markup=False
        )
        raise SystemExit(2) from None


@contextmanager
def _until_interrupted() -> Iterator[None]:
    """What runs until it is stopped has done its work when it is."""
    try:
        yield
    except KeyboardInterrupt:
        err.print("stopped")


def _read(path: Path) -> bytes:
    from doseflow.errors import SnapshotWrong

    try:
        return path.read_bytes()
    except OSError as error:
        raise SnapshotWrong(f"--state: {path} cannot be read ({error.strerror})") from error
