"""What `doseflow evaluate` does: choose the runs, play those that are not there yet, compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from doseflow.errors import InputWrong
from doseflow.evaluate.code_digest import code_digest, scenario_digest
from doseflow.evaluate.comparison import Comparison, compare
from doseflow.evaluate.planners import LADDER, check_planners
from doseflow.evaluate.playing import play_all
from doseflow.evaluate.results_file import ResultsFile
from doseflow.evaluate.run import Row, Run, RunKey
from doseflow.settings import Settings
from doseflow.simulate.scenario import Scenario
from doseflow.simulate.scenario_city import scenario_day
from doseflow.simulate.scenario_file import packaged_scenarios, scenario_from_file

FIRST_SEED = 1


@dataclass(frozen=True)
class EvaluateChoice:
    """
    What is to be compared; no planners are the whole ladder, no scenarios the suite `heldout`.

    Parameters
    ----------
    params
        Values of the simulator for every scenario, over those of its file.
    against
        Planners among those compared that differences are given to, beside the rules.
    """

    planners: tuple[str, ...] = ()
    suite: str | None = None
    scenario_paths: tuple[Path, ...] = ()
    params: Mapping[str, float] = field(default_factory=dict)
    against: tuple[str, ...] = ()
    num_seeds: int = 30
    results: Path = Path("var/evaluate.jsonl")
    keep_old: bool = False
    workers: int = 2


@dataclass(frozen=True)
class Evaluation:
    """All rows of the chosen runs, and their comparison."""

    rows: tuple[Row, ...]
    comparison: Comparison
    scenarios: tuple[Scenario, ...]
    seeds: tuple[int, ...]

    @property
    def failed(self) -> tuple[Row, ...]:
        """Runs that failed, with their reason."""
        return tuple(row for row in self.rows if "failed" in row)


def evaluate(
    choice: EvaluateChoice,
    settings: Settings,
    *,
    begin: Callable[[int, int], None] = lambda _total, _done: None,
    advance: Callable[[Row], None] = lambda _row: None,
) -> Evaluation:
    """
    Play what is not there yet and compare.

    Parameters
    ----------
    begin
        Told once how many runs there are and how many of them are done.
    advance
        Told of every run that has ended.

    Raises
    ------
    InputWrong, EnvironmentUnfit
    """
    planners = tuple(dict.fromkeys(choice.planners)) or LADDER
    check_planners(planners, settings)
    for name in choice.against:
        if name not in planners:
            raise InputWrong(f"--against: must be one of the planners compared, {', '.join(planners)}, got {name!r}")
    scenarios = scenarios_of(choice)
    for scenario in scenarios:
        # A site that the city does not have is found here, before anything is played.
        scenario_day(scenario, FIRST_SEED)
    seeds = tuple(range(FIRST_SEED, FIRST_SEED + choice.num_seeds))
    # All planners of a day follow each other, so that a stopped evaluation has whole days to compare.
    runs = [Run(planner, scenario, seed) for seed in seeds for scenario in scenarios for planner in planners]
    code = code_digest(settings)
    results = ResultsFile(choice.results)
    digests = {scenario.name: scenario_digest(scenario) for scenario in scenarios}
    rows = results.read(code, digests, keep_old=choice.keep_old)
    to_play = [run for run in runs if "failed" in rows.get(run.key, {"failed": "not played"})]
    begin(len(runs), len(runs) - len(to_play))
    play_all(to_play, settings, code, choice.workers, _keeper(results, rows, advance))
    chosen = tuple(rows[run.key] for run in runs if run.key in rows)
    return Evaluation(chosen, compare(chosen, planners, choice.params, choice.against), scenarios, seeds)


def scenarios_of(choice: EvaluateChoice) -> tuple[Scenario, ...]:
    """
    The scenarios of files, and of the suite, with the chosen values; the suite `heldout` where neither is named.

    Raises
    ------
    InputWrong
    """
    own = tuple(scenario_from_file(path) for path in choice.scenario_paths)
    suite = choice.suite or ("heldout" if not own else None)
    packaged: Sequence[Scenario] = packaged_scenarios(suite) if suite else ()
    scenarios = (*packaged, *own)
    names = [scenario.name for scenario in scenarios]
    for name in names:
        if names.count(name) > 1:
            raise InputWrong(f"--scenario: the name {name!r} is given more than once")
    return tuple(_with_params(scenario, choice.params) for scenario in scenarios)


def params_of(texts: Sequence[str]) -> dict[str, float]:
    """
    Values of the simulator from texts such as `absent_share=0`.

    Raises
    ------
    InputWrong
    """
    params: dict[str, float] = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            number = float(value)
        except ValueError:
            raise InputWrong(f"--param: must be NAME=NUMBER, such as absent_share=0, got {text!r}") from None
        if name in params:
            raise InputWrong(f"--param: {name} is given more than once")
        params[name] = number
    return params


def _with_params(scenario: Scenario, params: Mapping[str, float]) -> Scenario:
    try:
        changed = replace(scenario, params=scenario.params | dict(params)) if params else scenario
        changed.simulation_params()  # values that do not go together are found here, before anything is played
    except ValueError as error:
        where = "--param" if params else "--scenario"
        raise InputWrong(f"{where}: scenario {scenario.name}: {error}") from error
    return changed


def _keeper(results: ResultsFile, rows: dict[RunKey, Row], advance: Callable[[Row], None]) -> Callable[[Row], None]:
    def keep(row: Row) -> None:
        results.append([row])
        rows[row["planner"], row["scenario"], row["seed"]] = row
        advance(row)

    return keep
