"""Training of a network peer: pinball loss, early stop on the last tenth of the past, a cap on its time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from doseflow.bench.forecast.peers.boosted_trees import whole_of
from doseflow.bench.forecast.series_set import MINUTES_OF_DAY
from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.forecast import QUANTILE_LEVELS
from doseflow.domain.series_table import SeriesTable
from doseflow.forecast.series.plain.direct_features import Whole
from doseflow.forecast.series.plain.open_steps import OpenWeek, open_week

SECONDS_AT_MOST = 45.0
"""Of processor time to train one network on one set."""
BATCH, STEPS_BETWEEN_CHECKS, PATIENCE = 256, 100, 6
VALIDATION_SHARE, VALIDATION_EXAMPLES = 0.1, 4_000
LEARNING_RATE = 2e-3


@dataclass(frozen=True)
class NetworkShape:
    """Sizes a network is built for."""

    num_series: int
    past_steps: int
    horizon: int
    steps_per_day: int
    num_levels: int = len(QUANTILE_LEVELS)


class NetworkPeer:
    """A network, the data it is fed and the loop that trains it."""

    def __init__(self, name: str, build: Callable[[NetworkShape], nn.Module], seed: int) -> None:
        self.name, self.notes = name, ""
        self._build, self._seed = build, seed
        self._week = OpenWeek(MINUTES_OF_DAY, np.ones(7, dtype=bool))
        self._past_steps = 0
        self._network: nn.Module = nn.Identity()

    def fit(self, table: SeriesTable, horizon: int) -> None:
        """Train until it no longer gets better on the last tenth of the past, or its time is over."""
        self._week = open_week(table)
        whole = whole_of(table, self._week, 0)
        num_steps = whole.values.shape[1]
        self._past_steps = min(max(24, 2 * min(self._week.season_steps, 24)), num_steps // 3)
        steps_per_day = max(MINUTES_OF_DAY // table.step_minutes, 1)
        torch.manual_seed(self._seed)
        self._network = self._build(NetworkShape(len(whole.values), self._past_steps, horizon, steps_per_day))
        known = np.isfinite(table.values[:, self._week.open_before(table)])
        examples = _Examples(whole, known, horizon, self._past_steps, steps_per_day)
        parameters = sum(parameter.numel() for parameter in self._network.parameters())
        steps = _train(self._network, examples, np.random.default_rng(self._seed))
        self.notes = f"{parameters:,} weights, {self._past_steps} past steps, {steps} training steps of {BATCH}"

    def forecast(self, table: SeriesTable, horizon: int) -> FloatArray:
        """Quantiles, (S, N, Q); 0 at steps that are never open."""
        ahead, _ = self._week.ahead(table, horizon)
        num_series = len(table.series_ids)
        quantiles = np.zeros((num_series, horizon, len(QUANTILE_LEVELS)))
        whole = whole_of(table, self._week, 0)
        end = whole.values.shape[1]
        steps_per_day = max(MINUTES_OF_DAY // table.step_minutes, 1)
        examples = _Examples(whole, np.isfinite(whole.values), horizon, self._past_steps, steps_per_day)
        rows = np.arange(num_series)
        with torch.no_grad():
            found = self._network(*examples.inputs(rows, np.full(num_series, end))).numpy()
        scale = whole.scale[:, end]
        quantiles[:, ahead] = np.maximum(found[:, : len(ahead)] * scale[:, None, None], 0.0)
        return quantiles


@dataclass(frozen=True)
class _Examples:
    """Pasts and futures cut from a whole history; values over the site's recent mean."""

    whole: Whole
    known: FloatArray
    horizon: int
    past_steps: int
    steps_per_day: int

    def inputs(self, rows: IntArray, origins: IntArray) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Past, site, time of day and day of week of the past."""
        back = origins[:, None] + np.arange(-self.past_steps, 0)
        past = self.whole.values[rows[:, None], back] / self.whole.scale[rows, origins][:, None]
        phase = self.whole.phase_of_week[back]
        return (
            torch.from_numpy(past.astype(np.float32)),
            torch.from_numpy(rows),
            torch.from_numpy(phase % self.steps_per_day),
            torch.from_numpy(phase // self.steps_per_day),
        )

    def loss(self, network: nn.Module, rows: IntArray, origins: IntArray) -> Tensor:
        """Mean pinball loss of the values that are known, each site by its size, as the trial weighs them."""
        scale = self.whole.scale[rows, origins][:, None]
        ahead = origins[:, None] + np.arange(self.horizon)
        target = torch.from_numpy((self.whole.values[rows[:, None], ahead] / scale).astype(np.float32))
        weight = torch.from_numpy((self.known[rows[:, None], ahead] * scale).astype(np.float32))
        below = target[..., None] - network(*self.inputs(rows, origins))
        level = torch.tensor(QUANTILE_LEVELS)
        loss = torch.maximum(level * below, (level - 1) * below).mean(dim=-1)
        return (loss * weight).sum() / weight.sum().clamp(min=1e-6)

    def bounds(self) -> tuple[int, int, int]:
        """First origin, the first of the validation, and the last that has a whole future."""
        last = self.whole.values.shape[1] - self.horizon
        validation_from = max(last - max(int(VALIDATION_SHARE * last), 1), self.past_steps + 1)
        return self.past_steps, validation_from, last


def _train(network: nn.Module, examples: _Examples, rng: np.random.Generator) -> int:
    first, validation_from, last = examples.bounds()
    num_series = len(examples.whole.values)
    optimiser = torch.optim.AdamW(network.parameters(), lr=LEARNING_RATE, weight_decay=1e-4)
    check_rows = rng.integers(num_series, size=VALIDATION_EXAMPLES)
    check_origins = rng.integers(validation_from, last + 1, size=VALIDATION_EXAMPLES)
    best, best_state, waited, steps = np.inf, network.state_dict(), 0, 0
    last_training = max(validation_from - examples.horizon, first + 1)
    for _ in _until(SECONDS_AT_MOST):
        network.train()
        for _ in range(STEPS_BETWEEN_CHECKS):
            rows, origins = rng.integers(num_series, size=BATCH), rng.integers(first, last_training, size=BATCH)
            optimiser.zero_grad()
            examples.loss(network, rows, origins).backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
        steps += STEPS_BETWEEN_CHECKS
        network.eval()
        with torch.no_grad():
            loss = float(examples.loss(network, check_rows, check_origins))
        if loss < best:
            best, waited = loss, 0
            best_state = {name: value.clone() for name, value in network.state_dict().items()}
        else:
            waited += 1
            for group in optimiser.param_groups:
                group["lr"] *= 0.7
        if waited >= PATIENCE:
            break
    network.load_state_dict(best_state)
    network.eval()
    return steps


def _until(seconds: float) -> Iterator[None]:
    began = time.process_time()
    while time.process_time() - began < seconds:
        yield
