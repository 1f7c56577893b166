"""
Trains the arrival net, top to bottom: days, batches, loss, steps, checkpoints, judgement, bundle.

    doseflow train forecaster --quick          a small one, on a processor, in under five minutes
    doseflow train forecaster --device cuda    the one that ships, on one GPU, in under twenty

The loss is the weighted quantile loss itself (the pinball loss of Koenker and Bassett 1978, doi:10.2307/1913643, over
all levels, over the people who came), of arrivals and of the doses of the rest of the day. The net is judged on days of
other seeds, beside the plain forecasts that it must beat, and with three reports in ten lost.
"""

from __future__ import annotations

import json
import math
import pickle
import re
import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from doseflow.domain.forecast import QUANTILE_LEVELS
from doseflow.errors import TrainingWrong
from doseflow.forecast.net_inputs import AHEAD_CHANNELS, CANDIDATES, NUM_SITE_FEATURES, RECENT_CHANNELS
from doseflow.networks.arrival_net import ArrivalNet, ArrivalNetShape, input_names
from doseflow.train.checkpoints import kept_state, refused_where_unreadable
from doseflow.train.training_days import TOPOLOGY, DayOrder, TrainingDay, made_days, seeds_for


@dataclass(frozen=True)
class ForecasterParams:
    """How a net is trained; the defaults are the run that ships."""

    seed: int = 1
    num_days: int = 900
    num_validation_days: int = 60
    num_steps: int = 8000
    days_per_step: int = 2
    cycles_per_day: int = 24
    learning_rate: float = 2e-3
    weight_decay: float = 1e-3
    average_share: float = 0.999
    """Weights are averaged over the steps with this share of the old average; the average is what is kept."""
    rest_weight: float = 0.25
    blind_share: float = 0.1
    """Share of site-hours whose recent arrivals are hidden on top of what the reports lost."""
    checkpoint_steps: int = 500
    encoder: str = "convolution"
    width: int = 64
    attention_layers: int = 2

    def __post_init__(self) -> None:
        for name, low, high in (
            ("num_days", 1, 100_000),
            ("num_validation_days", 1, 10_000),
            ("num_steps", 1, 1_000_000),
            ("days_per_step", 1, 64),
            ("cycles_per_day", 1, 200),
            ("checkpoint_steps", 1, 1_000_000),
        ):
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name}: must lie in {low}..{high}, got {getattr(self, name)}")

    def shape(self) -> ArrivalNetShape:
        """Sizes of the net."""
        return ArrivalNetShape(
            recent_channels=len(RECENT_CHANNELS),
            ahead_channels=len(AHEAD_CHANNELS),
            site_features=NUM_SITE_FEATURES,
            candidates=len(CANDIDATES),
            quantile_levels=QUANTILE_LEVELS,
            encoder=self.encoder,
            width=self.width,
            attention_layers=self.attention_layers,
        )


QUICK = ForecasterParams(
    num_days=24, num_validation_days=4, num_steps=400, cycles_per_day=12, width=32, checkpoint_steps=50
)
"""Small enough for two cores and five minutes."""

Say = Callable[[str, int, int], None]
"""Called with what is being done, how many are done, and of how many."""


@dataclass(frozen=True)
class Trained:
    """A trained net, how it was made, the curve of its loss by step, and its figures on validation days."""

    net: ArrivalNet
    params: ForecasterParams
    curve: list[dict[str, float]]
    metrics: dict[str, float]


def train_forecaster(
    params: ForecasterParams,
    folder: Path,
    device: str,
    say: Say,
    workers: int | None = None,
    days_file: Path | None = None,
) -> Trained:
    """
    Train, or go on where `folder` has a checkpoint of the same params, and judge.

    Raises
    ------
    TrainingWrong
        The folder holds a checkpoint of other params, it or the file of days cannot be written, or the device is not
        there.
    """
    require_device(device)
    require_writable("--out", folder / "checkpoint.part")
    require_bundle_folder(folder)
    if days_file is not None:
        require_writable("--days-file", part_of(days_file))
    run = TrainingRun(params, folder, device)
    orders = [DayOrder(seed) for seed in seeds_for("training", params.num_days)]
    if run.step < params.num_steps:
        run.train(learning_days(orders, days_file, say, workers), say)
    return Trained(run.kept_net(), params, run.curve, judged(run.kept_net(), params, device, say, workers))


def learning_days(
    orders: Sequence[DayOrder], days_file: Path | None, say: Say, workers: int | None
) -> list[TrainingDay]:
    """The days of orders; those that a file keeps are not lived again, so that many nets can learn from the same."""
    if days_file is None:
        return lived(orders, "days to learn from", say, workers)
    kept: dict[DayOrder, TrainingDay] = {}
    if days_file.exists():
        kept = kept_days(days_file)
    missing = [order for order in orders if order not in kept]
    if missing:
        kept |= dict(zip(missing, lived(missing, "days to learn from", say, workers), strict=True))
        part_of(days_file).write_bytes(pickle.dumps(kept))
        part_of(days_file).replace(days_file)
    return [kept[order] for order in orders]


def kept_days(days_file: Path) -> dict[DayOrder, TrainingDay]:
    """The days that a file keeps."""
    try:
        days = pickle.loads(days_file.read_bytes())  # noqa: S301 - a file of the trainer's own, like any checkpoint
    except (pickle.UnpicklingError, EOFError, AttributeError, ImportError) as error:
        raise TrainingWrong(f"--days-file: {days_file} must be a file of days, which it is not: {error}") from error
    if not isinstance(days, dict):
        raise TrainingWrong(f"--days-file: {days_file} must be a file of days, which it is not")
    return days


def lived(orders: Sequence[DayOrder], what: str, say: Say, workers: int | None) -> list[TrainingDay]:
    """The days of orders, with progress."""
    done = iter(range(1, len(orders) + 1))
    return made_days(orders, workers, lambda: say(what, next(done), len(orders)))


def part_of(path: Path) -> Path:
    """Where a file is written before it takes its name, so that it is whole or not there."""
    return path.with_name(f"{path.name}.part")


def require_writable(option: str, path: Path) -> None:
    """Refuse a path that cannot be written, before hours of work end in it; nothing is left there."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
        path.unlink()
    except OSError as error:
        raise TrainingWrong(f"{option}: {path.parent} cannot be written to: {error.strerror}") from error


def require_bundle_folder(folder: Path) -> None:
    """Refuse a run whose bundle, which is written last, would find a file in the place of its folder."""
    bundle = folder / "bundle"
    if bundle.exists() and not bundle.is_dir():
        raise TrainingWrong(f"--out: {bundle} is a file, and the bundle is a folder; remove it")


def require_device(device: str) -> None:
    """Refuse a device that is not there."""
    if device == "cpu":
        return
    if re.fullmatch(r"cuda(:\d{1,3})?", device) is None:
        raise TrainingWrong(f"--device: must be cpu or cuda, got {device!r}")
    if not torch.cuda.is_available():
        raise TrainingWrong("--device: must be cpu on this machine, which has no CUDA device")
    num_devices = torch.cuda.device_count()
    if int(device.partition(":")[2] or 0) >= num_devices:
        raise TrainingWrong(f"--device: must be below cuda:{num_devices} on this machine, got {device}")


# --- a batch ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DayTensors:
    """A day on a device; see `TrainingDay`."""

    inputs: dict[str, Tensor]
    arrived_people: Tensor
    doses_left: Tensor

    @classmethod
    def of(cls, day: TrainingDay, device: str) -> DayTensors:
        """A day, taken to a device."""
        inputs = {name: torch.as_tensor(day.inputs[name], device=device) for name in input_names()}
        came, left = (torch.as_tensor(array, device=device) for array in (day.arrived_people, day.doses_left))
        return cls(inputs, came, left)

    def at(self, cycles: Tensor) -> DayTensors:
        """Some of its cycles, in the precision that the net computes in."""
        inputs = {}
        for name, tensor in self.inputs.items():
            chosen = tensor if name in TOPOLOGY else tensor[cycles]
            inputs[name] = chosen if name == "neighbour_idx" else chosen.float()
        return DayTensors(inputs, self.arrived_people[cycles], self.doses_left[cycles])

    def whole(self) -> DayTensors:
        """All of its cycles."""
        return self.at(torch.arange(len(self.arrived_people), device=self.arrived_people.device))


def blinded(inputs: dict[str, Tensor], share: float, generator: torch.Generator) -> dict[str, Tensor]:
    """Inputs with the recent arrivals of a share of the sites hidden, as if their reports had stopped."""
    recent = inputs["recent"]
    draws = torch.rand(recent.shape[:2], generator=generator).to(recent.device)
    sees = (draws >= share)[..., None, None].to(recent.dtype)
    lately = torch.tensor([1.0] * (len(CANDIDATES) - 1) + [0.0], device=recent.device)
    kept = 1 - (1 - sees) * (1 - lately)
    return inputs | {"recent": recent * sees, "candidates_known": inputs["candidates_known"] * kept}


def pinball(quantiles: Tensor, came: Tensor) -> Tensor:
    """Twice the pinball loss summed over levels and averaged, (...), of quantiles (..., Q) and what came (...)."""
    levels = torch.tensor(QUANTILE_LEVELS, device=quantiles.device)
    miss = came[..., None] - quantiles
    return 2 * torch.maximum(levels * miss, (levels - 1) * miss).mean(dim=-1)


def loss_of(net: ArrivalNet, inputs: dict[str, Tensor], came: Tensor, left: Tensor, rest_weight: float) -> Tensor:
    """Weighted quantile loss of arrivals and, at `rest_weight`, of the doses of the rest of the day."""
    arrivals, rest = net(*(inputs[name] for name in input_names()))
    mask = inputs["site_mask"]
    of_arrivals = (pinball(arrivals, came) * mask[..., None]).sum() / came.sum().clamp(min=1.0)
    of_rest = (pinball(rest, left) * mask).sum() / left.sum().clamp(min=1.0)
    total: Tensor = of_arrivals + rest_weight * of_rest
    return total


# --- the run ---------------------------------------------------------------------------------------------------------


class TrainingRun:
    """Net, optimiser and step, with a checkpoint in a folder from which a killed run goes on."""

    def __init__(self, params: ForecasterParams, folder: Path, device: str) -> None:
        self.params, self.folder, self.device = params, folder, device
        torch.manual_seed(params.seed)
        self.net = ArrivalNet(params.shape()).to(device)
        self.average = deepcopy(self.net).requires_grad_(requires_grad=False)
        self.optimiser = torch.optim.AdamW(
            self.net.parameters(), lr=params.learning_rate, weight_decay=params.weight_decay
        )
        self.step = 0
        self.curve: list[dict[str, float]] = []
        self._resume()

    def train(self, days: Sequence[TrainingDay], say: Say) -> None:
        """Take the steps that are left."""
        # A run that was resumed goes on counting where it stood.
        began, recent = time.monotonic() - (self.curve[-1]["seconds"] if self.curve else 0.0), []
        on_device = [DayTensors.of(day, self.device) for day in days]
        while self.step < self.params.num_steps:
            recent.append(self._take_step(on_device))
            if self.step % self.params.checkpoint_steps == 0 or self.step == self.params.num_steps:
                seconds = time.monotonic() - began
                loss = float(torch.stack(recent).mean())
                self.curve.append({"step": self.step, "loss": loss, "seconds": round(seconds, 1)})
                recent = []
                self._keep()
            if self.step % 20 == 0 or self.step == self.params.num_steps:
                say("steps", self.step, self.params.num_steps)

    def kept_net(self) -> ArrivalNet:
        """The averaged weights, on the processor."""
        return deepcopy(self.average).cpu().eval()

    def _take_step(self, days: Sequence[DayTensors]) -> Tensor:
        params = self.params
        # Drawn from seed and step, so that a run that was resumed takes the very steps of one that was not.
        generator = torch.Generator().manual_seed(params.seed * 1_000_003 + self.step)
        for group in self.optimiser.param_groups:
            group["lr"] = params.learning_rate * self._pace()
        self.optimiser.zero_grad(set_to_none=True)
        total = torch.zeros((), device=self.device)
        for place in torch.randint(len(days), (params.days_per_step,), generator=generator).tolist():
            day = days[place]
            order = torch.randperm(len(day.arrived_people), generator=generator)[: params.cycles_per_day]
            batch = day.at(order.to(self.device))
            inputs = blinded(batch.inputs, params.blind_share, generator)
            loss = loss_of(self.net, inputs, batch.arrived_people, batch.doses_left, params.rest_weight)
            torch.autograd.backward(loss / params.days_per_step)
            total += loss.detach() / params.days_per_step
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.optimiser.step()
        self.step += 1
        self._average()
        return total

    def _pace(self) -> float:
        """Learning rate over its highest: a short rise, then half a cosine down to a fiftieth."""
        warm = min(1.0, (self.step + 1) / 200)
        done = self.step / self.params.num_steps
        return warm * (0.02 + 0.98 * (1 + math.cos(math.pi * done)) / 2)

    def _average(self) -> None:
        share = min(self.params.average_share, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.average.parameters()), list(self.net.parameters()), 1 - share)

    @property
    def _checkpoint_path(self) -> Path:
        return self.folder / "checkpoint.pt"

    def _keep(self) -> None:
        state = {
            "params": asdict(self.params),
            "step": self.step,
            "curve": self.curve,
            "net": self.net.state_dict(),
            "average": self.average.state_dict(),
            "optimiser": self.optimiser.state_dict(),
        }
        part = self._checkpoint_path.with_suffix(".part")
        torch.save(state, part)
        part.replace(self._checkpoint_path)  # whole or not at all, whenever the run is killed
        (self.folder / "curve.json").write_text(json.dumps(self.curve, indent=1), encoding="utf-8")

    def _resume(self) -> None:
        state = kept_state(self._checkpoint_path, self.params, self.device)
        if state is None:
            return
        with refused_where_unreadable(self._checkpoint_path):
            self.step, self.curve = state["step"], state["curve"]
            self.net.load_state_dict(state["net"])
            self.average.load_state_dict(state["average"])
            self.optimiser.load_state_dict(state["optimiser"])


# --- the judgement ---------------------------------------------------------------------------------------------------


def judged(net: ArrivalNet, params: ForecasterParams, device: str, say: Say, workers: int | None) -> dict[str, float]:
    """Figures on validation days, as they are and with three reports in ten lost, beside the plain forecasts."""
    seeds = list(seeds_for("validation", params.num_validation_days))
    whole = [DayOrder(seed, stride=6, with_peers=True, missing_share=0.01) for seed in seeds]
    holed = [replace(order, missing_share=0.3) for order in whole]
    metrics: dict[str, float] = {}
    for name, orders in (("", whole), ("_missing30", holed)):
        days = lived(orders, f"days to judge by{name}", say, workers)
        metrics |= {f"{key}{name}": value for key, value in scores(net.to(device), days, device).items()}
    net.cpu()
    metrics["loss_growth_share_missing30"] = metrics["wql_missing30"] / metrics["wql"] - 1
    return metrics


@torch.no_grad()
def scores(net: ArrivalNet, days: Sequence[TrainingDay], device: str) -> dict[str, float]:
    """Weighted quantile loss and coverage over days, of the net and of the plain forecasts."""
    sums: dict[str, float] = {}

    def add(name: str, value: float) -> None:
        sums[name] = sums.get(name, 0.0) + value

    for day in days:
        whole = DayTensors.of(day, device).whole()
        inputs, came, left = whole.inputs, whole.arrived_people, whole.doses_left
        arrivals, rest = net(*(inputs[name] for name in input_names()))
        # Where a site is closed everybody is certain that nobody comes, which is no merit.
        counts = (inputs["site_mask"][..., None] * inputs["ahead"][..., AHEAD_CHANNELS.index("is_open")]) > 0
        add("people", float((came * counts).sum()))
        add("cells", float(counts.sum()))
        said = {"": arrivals} | {
            f"_{name}": torch.nan_to_num(torch.as_tensor(peer, device=device)) for name, peer in day.peers.items()
        }
        for name, quantiles in said.items():
            add(f"wql{name}", float((pinball(quantiles, came) * counts).sum()))
            add(f"coverage80{name}", float((covered(quantiles, came) * counts).sum()))
            add(f"coverage80_even{name}", float((covered_evenly(quantiles, came) * counts).sum()))
        add("left", float(left.sum()))
        add("wql_rest", float((pinball(rest, left) * inputs["site_mask"]).sum()))
    over = {"wql_rest": "left"}
    return {
        name: value / sums["cells" if name.startswith("coverage80") else over.get(name, "people")]
        for name, value in sums.items()
        if name not in ("people", "cells", "left")
    }


def covered(quantiles: Tensor, came: Tensor) -> Tensor:
    """Whether the 80 % interval holds a count, its bounds included, (...)."""
    low, high = quantiles[..., 0], quantiles[..., -1]
    return ((low <= came) & (came <= high)).to(quantiles.dtype)


def covered_evenly(quantiles: Tensor, came: Tensor) -> Tensor:
    """
    The part of a count's unit that the 80 % interval holds, (...).

    Whole numbers cannot be covered at 80 % exactly, and a bound that a count falls on would count for all of it. Spread
    evenly over half a unit to either side, as in a randomised probability integral transform (Czado, Gneiting and Held
    2009, doi:10.1111/j.1541-0420.2009.01191.x), a calibrated forecast has 80 %, and up to 90 % where its lower bound is
    nobody: no interval can leave out the lowest tenth of a count that is 0 more often than that.
    """
    low, high = quantiles[..., 0], quantiles[..., -1]
    # Nobody less than nobody comes: an interval from 0 holds all of the unit of 0.
    low = torch.where(low <= 0, low - 0.5, low)
    return torch.clamp(torch.minimum(high, came + 0.5) - torch.maximum(low, came - 0.5), min=0.0, max=1.0)
