"""
Trains the site value net, top to bottom: days, roll-outs, labels, steps, checkpoints, judgement.

    doseflow train policy --quick          a small one, on a processor, in under ten minutes
    doseflow train policy --device cuda    the one that ships, on one GPU, in under fifteen

Labels are what the simulator says: every site of every view is lived as it is and with each change, several times over,
and the differences of cost are averaged (`site_rollouts`). The net is judged on days of other seeds by how much of the
variance that can be explained it leaves unexplained, beside the fluid queue of the planner `index`.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from doseflow.networks.site_value_net import SiteValueNet
from doseflow.policy.site_values import NUM_VALUES
from doseflow.policy.site_view import NUM_VIEW_FEATURES
from doseflow.train.checkpoints import kept_state, refused_where_unreadable
from doseflow.train.forecaster import Say, part_of, require_bundle_folder, require_device, require_writable
from doseflow.train.site_days import LIVES, TEACHERS, Rows, ViewOrder, made_rows
from doseflow.train.site_rollouts import Views, World, all_changes, costs, packaged_world
from doseflow.train.training_days import seeds_for


@dataclass(frozen=True)
class PolicyParams:
    """How a net is trained; the defaults are the run that ships."""

    teacher: str = LIVES
    """`lives`: what people are worth is found by living sites again; `programme`: `scenario_mpc` says it."""
    seed: int = 1
    num_days: int = 600
    stride: int = 6
    """Every how many cycles a day is looked at."""
    num_passes: int = 3
    """Times that every view is lived for its labels."""
    num_steps: int = 30_000
    rows_per_step: int = 8192
    sites_per_life: int = 32_768
    """Sites lived side by side, as far as memory goes."""
    learning_rate: float = 2e-3
    weight_decay: float = 1e-4
    average_share: float = 0.999
    """Weights are averaged over the steps with this share of the old average; the average is what is kept."""
    kept_label_share: float = 0.999
    """Labels are cut at this quantile of their size: the few beyond it would drown the rest."""
    checkpoint_steps: int = 2000
    width: int = 256
    num_layers: int = 3
    num_validation_days: int = 24
    validation_stride: int = 12
    num_validation_passes: int = 16

    def __post_init__(self) -> None:
        if self.teacher not in TEACHERS:
            raise ValueError(f"teacher: must be one of {', '.join(TEACHERS)}, got {self.teacher!r}")
        for name, low, high in (
            ("num_days", 1, 100_000),
            ("stride", 1, 1000),
            ("num_passes", 1, 1000),
            ("num_steps", 1, 10_000_000),
            ("rows_per_step", 1, 1_000_000),
            ("sites_per_life", 1, 1_000_000),
            ("checkpoint_steps", 1, 10_000_000),
            ("width", 1, 4096),
            ("num_layers", 1, 32),
            ("num_validation_days", 1, 10_000),
            ("validation_stride", 1, 1000),
            ("num_validation_passes", 2, 1000),
        ):
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name}: must lie in {low}..{high}, got {getattr(self, name)}")

    def net(self) -> SiteValueNet:
        """An untrained net."""
        return SiteValueNet(NUM_VIEW_FEATURES, NUM_VALUES, self.width, self.num_layers)


_KEPT_FILES = ("labels.pt", "checkpoint.pt")
QUICK = PolicyParams(
    num_days=30,
    stride=24,
    num_passes=1,
    num_steps=4000,
    rows_per_step=1024,
    sites_per_life=512,
    checkpoint_steps=500,
    width=128,
    num_layers=2,
    num_validation_days=2,
    validation_stride=24,
    num_validation_passes=4,
)
"""Small enough for two cores and ten minutes."""


@dataclass(frozen=True)
class TrainedPolicy:
    """A trained net, how it was made, the curve of its loss by step, and its figures on validation days."""

    net: SiteValueNet
    params: PolicyParams
    curve: list[dict[str, float]]
    metrics: dict[str, float]


def train_policy(
    params: PolicyParams, folder: Path, device: str, say: Say, workers: int | None = None
) -> TrainedPolicy:
    """
    Train, or go on where `folder` has a checkpoint of the same params, and judge.

    Raises
    ------
    TrainingWrong
        The folder holds a checkpoint of other params or cannot be written, or the device is not there.
    """
    require_device(device)
    require_writable("--out", folder / "checkpoint.part")
    require_bundle_folder(folder)
    run = PolicyRun(params, folder, device)
    if run.step < params.num_steps:
        orders = [
            ViewOrder(seed, params.stride, teacher=params.teacher) for seed in seeds_for("training", params.num_days)
        ]
        run.train(made(orders, "days to learn from", say, workers), say)
    return TrainedPolicy(run.kept_net(), params, run.curve, judged(run.kept_net(), params, device, say, workers))


def made(orders: list[ViewOrder], what: str, say: Say, workers: int | None) -> Rows:
    """Rows of orders, with progress."""
    done = iter(range(1, len(orders) + 1))
    return made_rows(orders, workers, lambda: say(what, next(done), len(orders)))


# --- the labels ------------------------------------------------------------------------------------------------------


class SiteLives:
    """Rows on a device, to be lived in parts that the device has room for."""

    def __init__(self, rows: Rows, params: PolicyParams, device: str) -> None:
        self._world: World = packaged_world()
        self._changes = all_changes()
        self._views = Views(**{one.name: torch.as_tensor(rows[one.name], device=device) for one in fields(Views)})
        self._scale = torch.as_tensor(rows["scale"], device=device)
        self._params, self._device = params, device
        self.num_rows = len(self._scale)

    def once(self, number: int) -> Iterator[tuple[slice, Tensor]]:
        """
        Live every row once: parts of the rows, and what each change added there, in units of the scale, (n, V).

        The same `number` always gives the same lives.
        """
        at_once = self._params.sites_per_life
        for start in range(0, self.num_rows, at_once):
            rows = slice(start, min(start + at_once, self.num_rows))
            generator = torch.Generator(device=self._device)
            generator.manual_seed((self._params.seed * 1009 + number) * 1_000_003 + start)
            cost = costs(self._views.at(rows), self._world, self._changes, generator)
            yield rows, ((cost[1:] - cost[:1]) / self._scale[rows]).T


def cut(labels: Tensor, kept_share: float) -> Tensor:
    """Labels, none larger than the quantile of their sizes."""
    sizes = labels.abs().flatten()
    # A quantile of a sample is near enough, and torch takes no more numbers than that.
    limit = torch.quantile(sizes[:: max(1, len(sizes) // 1_000_000)], kept_share)
    return labels.clamp(-limit, limit)


# --- the run ---------------------------------------------------------------------------------------------------------


class PolicyRun:
    """Labels, net, optimiser and step, with checkpoints in a folder from which a killed run goes on."""

    def __init__(self, params: PolicyParams, folder: Path, device: str) -> None:
        self.params, self.folder, self.device = params, folder, device
        torch.manual_seed(params.seed)
        self.net = params.net().to(device)
        self.average = deepcopy(self.net).requires_grad_(requires_grad=False)
        self.optimiser = torch.optim.AdamW(
            self.net.parameters(), lr=params.learning_rate, weight_decay=params.weight_decay
        )
        self.step = self.passes = 0
        self.label_sum: Tensor | None = None
        self.curve: list[dict[str, float]] = []
        self._resume()

    def train(self, rows: Rows, say: Say) -> None:
        """Live the passes that are left, and take the steps that are left."""
        taught = self._labels(rows, say) if self.params.teacher == LIVES else self._told_labels(rows)
        labels = cut(taught, self.params.kept_label_share)
        features = torch.as_tensor(rows["features"], device=self.device)
        # A run that was resumed goes on counting where it stood.
        began, recent = time.monotonic() - (self.curve[-1]["seconds"] if self.curve else 0.0), []
        while self.step < self.params.num_steps:
            recent.append(self._take_step(features, labels))
            if self.step % self.params.checkpoint_steps == 0 or self.step == self.params.num_steps:
                loss = float(torch.stack(recent).mean())
                seconds = round(time.monotonic() - began, 1)
                self.curve.append({"step": self.step, "loss": loss, "seconds": seconds})
                recent = []
                self._keep()
            if self.step % 100 == 0 or self.step == self.params.num_steps:
                say("steps", self.step, self.params.num_steps)

    def kept_net(self) -> SiteValueNet:
        """The averaged weights, on the processor."""
        return deepcopy(self.average).cpu().eval()

    def _labels(self, rows: Rows, say: Say) -> Tensor:
        """Mean over the passes, (N, V)."""
        lives = SiteLives(rows, self.params, self.device)
        total = lives.num_rows * self.params.num_passes
        if self.label_sum is None:
            self.label_sum = torch.zeros(lives.num_rows, NUM_VALUES, device=self.device)
        while self.passes < self.params.num_passes:
            for at, added in lives.once(self.passes):
                self.label_sum[at] += added
                say("sites lived", self.passes * lives.num_rows + at.stop, total)
            self.passes += 1
            self._keep_whole("labels.pt", {"passes": self.passes, "label_sum": self.label_sum})
        return self.label_sum / self.passes

    def _told_labels(self, rows: Rows) -> Tensor:
        return torch.as_tensor(rows["labels"], device=self.device)

    def _take_step(self, features: Tensor, labels: Tensor) -> Tensor:
        params = self.params
        # Drawn from seed and step, so that a run that was resumed takes the very steps of one that was not.
        generator = torch.Generator().manual_seed(params.seed * 1_000_003 + self.step)
        for group in self.optimiser.param_groups:
            group["lr"] = params.learning_rate * self._pace()
        rows = torch.randint(len(labels), (params.rows_per_step,), generator=generator).to(self.device)
        loss: Tensor = (self.net(features[rows]) - labels[rows]).square().mean()
        self.optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.optimiser.step()
        self.step += 1
        self._average()
        return loss.detach()

    def _pace(self) -> float:
        """Learning rate over its highest: a short rise, then half a cosine down to a hundredth."""
        warm = min(1.0, (self.step + 1) / 500)
        done = self.step / self.params.num_steps
        return warm * (0.01 + 0.99 * (1 + math.cos(math.pi * done)) / 2)

    def _average(self) -> None:
        share = min(self.params.average_share, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.average.parameters()), list(self.net.parameters()), 1 - share)

    def _keep(self) -> None:
        state = {
            "step": self.step,
            "curve": self.curve,
            "net": self.net.state_dict(),
            "average": self.average.state_dict(),
            "optimiser": self.optimiser.state_dict(),
        }
        self._keep_whole("checkpoint.pt", state)
        (self.folder / "curve.json").write_text(json.dumps(self.curve, indent=1), encoding="utf-8")

    def _keep_whole(self, name: str, state: dict[str, Any]) -> None:
        path = self.folder / name
        torch.save({"params": asdict(self.params)} | state, part_of(path))
        part_of(path).replace(path)  # whole or not at all, whenever the run is killed

    def _resume(self) -> None:
        labels, state = (kept_state(self.folder / name, self.params, self.device) for name in _KEPT_FILES)
        if labels is not None:
            with refused_where_unreadable(self.folder / "labels.pt"):
                self.passes, self.label_sum = labels["passes"], labels["label_sum"]
        if state is not None:
            with refused_where_unreadable(self.folder / "checkpoint.pt"):
                self.step, self.curve = state["step"], state["curve"]
                self.net.load_state_dict(state["net"])
                self.average.load_state_dict(state["average"])
                self.optimiser.load_state_dict(state["optimiser"])


# --- the judgement ---------------------------------------------------------------------------------------------------


def judged(net: SiteValueNet, params: PolicyParams, device: str, say: Say, workers: int | None) -> dict[str, float]:
    """Figures on validation days, beside the fluid queue."""
    seeds = seeds_for("validation", params.num_validation_days)
    orders = [ViewOrder(seed, params.validation_stride, with_fluid=True) for seed in seeds]
    rows = made(orders, "days to judge by", say, workers)
    lives = SiteLives(rows, params, device)
    halves = torch.zeros(2, lives.num_rows, NUM_VALUES, device=device)
    done = iter(range(1, params.num_validation_passes + 1))
    for half, numbers in enumerate(halves_of(params.num_validation_passes)):
        for number in numbers:
            for at, added in lives.once(-1 - number):  # no pass of the training has these numbers
                halves[half, at] += added / len(numbers)
            say("passes to judge by", next(done), params.num_validation_passes)
    with torch.no_grad():
        said = net(torch.as_tensor(rows["features"])).to(device)
    fluid = torch.as_tensor(rows["fluid"] / rows["scale"][:, None], device=device)
    return scores(said, fluid, halves)


def halves_of(num_passes: int) -> tuple[range, range]:
    """The numbers of the passes, in two halves of the same length or nearly so."""
    return range(num_passes // 2), range(num_passes // 2, num_passes)


def scores(said: Tensor, fluid: Tensor, halves: Tensor) -> dict[str, float]:
    """
    Unexplained share of each value: squared error over variance, what chance alone makes taken off both.

    A value of which chance hides the variance cannot be judged and is left out.

    Parameters
    ----------
    said, fluid
        By the net, (N, V), and by the fluid queue, (N, V') of the first V' values.
    halves
        Labels by two halves of the lives, (2, N, V), from whose difference the part of chance follows.
    """
    labels = halves.mean(0)
    chance = (halves[0] - halves[1]).square().mean(0) / 4
    explainable = labels.var(0, correction=0) - chance
    names = [change.name for change in all_changes()[1:]]
    judged_idx = [idx for idx in range(len(names)) if explainable[idx] > _LEAST_EXPLAINABLE * chance[idx] + 1e-9]
    metrics: dict[str, float] = {}
    for who, values in (("unexplained_share", said), ("fluid_unexplained_share", fluid)):
        error = (values - labels[:, : values.shape[1]]).square().mean(0)
        shares = {
            names[idx]: float((error[idx] - chance[idx]) / explainable[idx])
            for idx in judged_idx
            if idx < values.shape[1]
        }
        metrics |= {f"{who}_{name}": share for name, share in shares.items()}
        metrics[f"{who}_people"] = _mean([share for name, share in shares.items() if name in names[: fluid.shape[1]]])
    metrics["unexplained_share"] = _mean([metrics[f"unexplained_share_{names[idx]}"] for idx in judged_idx])
    return metrics


_LEAST_EXPLAINABLE = 0.2
"""Of the variance by chance; with less a share would be a ratio of two errors."""


def _mean(shares: list[float]) -> float:
    """The mean; where nothing could be judged, all of it is unexplained."""
    return sum(shares) / len(shares) if shares else 1.0
