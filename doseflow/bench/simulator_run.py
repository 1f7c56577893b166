"""All of `doseflow bench simulator`, in the order it prints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from doseflow.bench.ciw_comparison import compare_with_ciw, comparison_figures
from doseflow.bench.figures import Figure
from doseflow.bench.simulator import (
    ArrayLibrary,
    day_figure,
    day_seconds,
    numpy_library,
    start_of,
    throughput,
    throughput_figure,
)
from doseflow.bench.torch_library import torch_library

COMPARED_SITES = 200
PERIODS = 12


def simulator_figures(
    sites: Sequence[int],
    batches: Sequence[int],
    *,
    device: str,
    with_ciw: bool,
    num_days: int,
    seed: int,
    report: Callable[[str], None],
) -> list[Figure]:
    """
    Days by number of sites, the comparison with Ciw at 200 sites, and throughput by number of cities at once.

    Parameters
    ----------
    report
        Told what is going on.

    Raises
    ------
    EnvironmentUnfit
        The device or Ciw is not there.
    """
    library = numpy_library() if device == "numpy" else torch_library(device)
    figures = list(_days(sites, num_days, seed, report))
    if with_ciw:
        report(f"a day of {COMPARED_SITES} sites, person by person in Ciw (a minute or so)")
        start = start_of(f"synthetic:{COMPARED_SITES}", seed)
        figures += comparison_figures(compare_with_ciw(start, seed), COMPARED_SITES, seed)
    return [*figures, *_batches(library, batches, seed, report)]


def _days(sites: Sequence[int], num_days: int, seed: int, report: Callable[[str], None]) -> Iterator[Figure]:
    for num_sites in sites:
        report(f"{num_days} days of {num_sites} sites")
        name = f"synthetic:{num_sites}"
        yield day_figure(name, num_sites, day_seconds(start_of(name, seed), seed, num_days), seed)


def _batches(
    library: ArrayLibrary, batches: Sequence[int], seed: int, report: Callable[[str], None]
) -> Iterator[Figure]:
    start = start_of(f"synthetic:{COMPARED_SITES}", seed)
    for num_replicas in batches:
        report(f"{num_replicas} cities of {COMPARED_SITES} sites at once, {library.name}")
        rates = throughput(start, library, num_replicas, seed=seed, num_periods=PERIODS)
        yield throughput_figure(library, COMPARED_SITES, num_replicas, rates, seed)
