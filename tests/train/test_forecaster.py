"""Training: the loss, the judgement, and runs that end the same whether or not they were stopped."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from scipy.stats import poisson
from train_samples import TINY, silent, small_scenario

from doseflow.domain.forecast import QUANTILE_LEVELS
from doseflow.errors import TrainingWrong
from doseflow.forecast.net_inputs import AHEAD_CHANNELS, CANDIDATES
from doseflow.networks.arrival_net import ArrivalNet, input_names
from doseflow.train import training_days
from doseflow.train.forecaster import (
    DayTensors,
    ForecasterParams,
    TrainingRun,
    blinded,
    covered,
    covered_evenly,
    learning_days,
    loss_of,
    pinball,
    scores,
    train_forecaster,
)
from doseflow.train.training_days import DayOrder, day_of_scenario


def made_of(params=TINY):
    torch.manual_seed(1)
    return ArrivalNet(params.shape())


def weights_of(run):
    return torch.cat([one.detach().flatten() for net in (run.net, run.average) for one in net.parameters()])


# --- the loss --------------------------------------------------------------------------------------------------------


def pinball_by_hand(quantiles, came):
    losses = []
    for level, quantile in zip(QUANTILE_LEVELS, quantiles, strict=True):
        losses.append(level * (came - quantile) if came > quantile else (1 - level) * (quantile - came))
    return 2 * sum(losses) / len(losses)


def test_the_pinball_loss_is_that_of_the_book():
    rng = np.random.default_rng(0)
    quantiles, came = np.sort(rng.gamma(2, 3, (4, 7, 5)), axis=-1), rng.poisson(6, (4, 7)).astype(float)
    got = pinball(torch.as_tensor(quantiles), torch.as_tensor(came)).numpy()
    for at in np.ndindex(4, 7):
        assert got[at] == pytest.approx(pinball_by_hand(quantiles[at], came[at]), rel=1e-6)


def test_the_true_quantiles_have_the_least_pinball_loss():
    came = torch.as_tensor(np.random.default_rng(1).gamma(5, 2, 20_000))
    true = torch.quantile(came, torch.tensor(QUANTILE_LEVELS, dtype=came.dtype))
    least = pinball(true.expand(len(came), -1), came).mean()
    for level in range(len(QUANTILE_LEVELS)):
        for shift in (-0.5, 0.5):
            other = true.clone()
            other[level] += shift
            assert pinball(other.expand(len(came), -1), came).mean() > least


def test_the_loss_is_the_weighted_quantile_loss_of_sites_that_are_there(days):
    net, whole = made_of(), DayTensors.of(days[0], "cpu").whole()
    inputs, came, left = whole.inputs, whole.arrived_people, whole.doses_left
    with torch.no_grad():
        got = float(loss_of(net, inputs, came, left, 0.25))
        arrivals, rest = (one.double().numpy() for one in net(*(inputs[name] for name in input_names())))
    assert inputs["site_mask"].sum() == 6 * len(came)
    people = sum(
        pinball_by_hand(arrivals[at], float(came[at])) for at in np.ndindex(*came.shape) if at[1] < 6 and at[0] % 5 == 0
    )
    some = slice(None, None, 5)
    of_arrivals = float((pinball(torch.as_tensor(arrivals), came)[some, :6]).sum())
    assert people == pytest.approx(of_arrivals, rel=1e-5)
    doses = sum(pinball_by_hand(rest[at], float(left[at])) for at in np.ndindex(*left.shape) if at[1] < 6)
    all_people = float(pinball(torch.as_tensor(arrivals), came)[:, :6].sum())
    assert got == pytest.approx(all_people / float(came.sum()) + 0.25 * doses / float(left.sum()), rel=1e-4)


def test_what_is_hidden_is_the_recent_past_and_the_latest_rate_and_nothing_else(days):
    inputs = DayTensors.of(days[0], "cpu").whole().inputs
    generator = torch.Generator().manual_seed(1)
    for share in (0.0, 0.5, 1.0):
        hidden = blinded(inputs, share, generator)
        blind = ~hidden["recent"].flatten(2).any(dim=-1) & inputs["recent"].flatten(2).any(dim=-1)
        sees = inputs["recent"].flatten(2).any(dim=-1)
        assert float(blind[sees].float().mean()) == pytest.approx(share, abs=0.15)
        assert not hidden["candidates_known"][blind][..., CANDIDATES.index("lately")].any()
        for name, one in hidden.items():
            if name not in ("recent", "candidates_known"):
                assert one is inputs[name]
        known, before = hidden["candidates_known"], inputs["candidates_known"]
        assert torch.equal(known[..., :-1], before[..., :-1])
        assert torch.equal(known[~blind & sees], before[~blind & sees])


# --- the judgement ---------------------------------------------------------------------------------------------------


def drawn(mean, quantiles, seed=0, num=200_000):
    came = torch.as_tensor(np.random.default_rng(seed).poisson(mean, num).astype(np.float64))
    bounds = torch.zeros(num, 5, dtype=torch.float64)
    bounds[:, 0], bounds[:, -1] = quantiles
    return bounds, came


def spread_quantile(mean, level):
    """Quantile of a Poisson count spread evenly over half a unit to either side."""
    count = poisson.ppf(level, mean)
    below = poisson.cdf(count - 1, mean)
    return count - 0.5 + (level - below) / poisson.pmf(count, mean)


@pytest.mark.parametrize("mean", [0.7, 3.0, 11.0, 60.0])
def test_the_interval_covers_a_count_on_its_bounds(mean):
    low, high = poisson.ppf([0.1, 0.9], mean)
    share = float(covered(*drawn(mean, (low, high))).mean())
    assert share == pytest.approx(poisson.cdf(high, mean) - poisson.cdf(low - 1, mean), abs=0.004)
    between = float(covered(*drawn(mean, (low + 0.5, high - 0.5))).mean())
    assert between == pytest.approx(poisson.cdf(high - 1, mean) - poisson.cdf(low, mean), abs=0.004)


@pytest.mark.parametrize("mean", [2.2, 3.0, 4.5, 11.0, 60.0])
def test_spread_evenly_true_quantiles_cover_eighty_in_a_hundred(mean):
    low, high = spread_quantile(mean, 0.1), spread_quantile(mean, 0.9)
    assert low > 0
    assert float(covered_evenly(*drawn(mean, (low, high))).mean()) == pytest.approx(0.8, abs=0.003)


@pytest.mark.parametrize("mean", [0.3, 0.7, 1.2])
def test_where_one_in_five_periods_has_nobody_the_true_interval_begins_at_nobody_and_covers_ninety(mean):
    low, high = spread_quantile(mean, 0.1), spread_quantile(mean, 0.9)
    assert low < 0
    assert float(covered_evenly(*drawn(mean, (0.0, high))).mean()) == pytest.approx(0.9, abs=0.003)


def test_scores_are_those_of_open_periods_of_sites_that_are_there(days):
    got = scores(made_of().eval(), days[:2], "cpu")
    losses, people, inside, cells = 0.0, 0.0, 0, 0
    for day in days[:2]:
        is_open = day.inputs["ahead"][:, :6, :, AHEAD_CHANNELS.index("is_open")] > 0
        quantiles = np.nan_to_num(day.peers["seasonal_naive"])[:, :6][is_open]
        came = day.arrived_people[:, :6][is_open]
        losses += sum(pinball_by_hand(one, count) for one, count in zip(quantiles, came, strict=True))
        inside += int(((quantiles[:, 0] <= came) & (came <= quantiles[:, -1])).sum())
        people, cells = people + came.sum(), cells + len(came)
    assert got["wql_seasonal_naive"] == pytest.approx(losses / people, rel=1e-4)
    assert got["coverage80_seasonal_naive"] == pytest.approx(inside / cells, rel=1e-4)
    assert set(got) == {
        f"{key}{peer}"
        for key in ("wql", "coverage80", "coverage80_even")
        for peer in ("", "_bookings_first", "_seasonal_naive")
    } | {"wql_rest"}
    assert all(np.isfinite(value) for value in got.values())


# --- the run ---------------------------------------------------------------------------------------------------------


class Killed(TrainingRun):
    """A run that is stopped in its fifth step."""

    def _take_step(self, days):
        if self.step == 4:
            raise KeyboardInterrupt
        return super()._take_step(days)


@pytest.mark.parametrize("checkpoint_steps", [2, 3])
def test_a_run_that_was_killed_ends_as_one_that_was_not(days, tmp_path, checkpoint_steps):
    params = replace(TINY, checkpoint_steps=checkpoint_steps)
    through = TrainingRun(params, tmp_path, "cpu")
    (tmp_path / "killed").mkdir()
    through.train(days[:2], silent)
    killed = Killed(params, tmp_path / "killed", "cpu")
    with pytest.raises(KeyboardInterrupt):
        killed.train(days[:2], silent)
    torch.manual_seed(12345)
    resumed = TrainingRun(params, tmp_path / "killed", "cpu")
    assert resumed.step == 4 - 4 % checkpoint_steps
    resumed.train(days[:2], silent)
    assert torch.equal(weights_of(resumed), weights_of(through))
    losses = [[(point["step"], point["loss"]) for point in run.curve] for run in (resumed, through)]
    assert losses[0] == losses[1]


def test_a_seed_gives_its_weights_and_another_seed_others(days, tmp_path):
    runs = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        (tmp_path / name).mkdir()
        runs.append(TrainingRun(replace(TINY, seed=seed), tmp_path / name, "cpu"))
        runs[-1].train(days[:2], silent)
    assert torch.equal(weights_of(runs[0]), weights_of(runs[1]))
    assert not torch.equal(weights_of(runs[0]), weights_of(runs[2]))


def test_a_finished_run_keeps_its_average_and_takes_no_more_steps(days, tmp_path):
    run = TrainingRun(TINY, tmp_path, "cpu")
    run.train(days[:2], silent)
    again = TrainingRun(TINY, tmp_path, "cpu")
    assert again.step == TINY.num_steps
    again.train(days[:2], silent)
    kept = again.kept_net()
    assert not kept.training
    for one, other in zip(kept.parameters(), run.average.parameters(), strict=True):
        assert torch.equal(one, other)
    assert not torch.equal(next(run.average.parameters()), next(run.net.parameters()))


def shuffled(day, seed):
    """The same day with what came given to other cycles."""
    order = np.random.default_rng(seed).permutation(len(day.arrived_people))
    return replace(day, arrived_people=day.arrived_people[order], doses_left=day.doses_left[order])


def test_targets_of_other_cycles_are_learned_worse(tmp_path):
    # From before opening, since an hour of a quiet morning is like the next.
    mornings = [day_of_scenario(small_scenario(seed, hours=(7, 10)), DayOrder(seed, stride=3)) for seed in (3, 4)]
    params = replace(TINY, num_steps=25, cycles_per_day=6, days_per_step=1, checkpoint_steps=25, learning_rate=2e-2)
    losses = []
    for name, made in (("true", mornings), ("other", [shuffled(day, seed) for seed, day in enumerate(mornings)])):
        (tmp_path / name).mkdir()
        run = TrainingRun(params, tmp_path / name, "cpu")
        run.train(made[:1], silent)
        whole = DayTensors.of(made[1], "cpu").whole()
        with torch.no_grad():
            losses.append(float(loss_of(run.kept_net(), whole.inputs, whole.arrived_people, whole.doses_left, 0.25)))
    assert losses[1] > 1.1 * losses[0]


def test_steps_make_the_loss_smaller(days, tmp_path):
    params = replace(TINY, num_steps=40, cycles_per_day=4, checkpoint_steps=10, learning_rate=3e-2)
    run = TrainingRun(params, tmp_path, "cpu")
    run.train(days, silent)
    assert run.curve[-1]["loss"] < run.curve[0]["loss"]
    assert [point["step"] for point in run.curve] == [10, 20, 30, 40]


# --- what cannot be --------------------------------------------------------------------------------------------------


def refused(params, folder, device="cpu", **given):
    with pytest.raises(TrainingWrong) as caught:
        train_forecaster(params, folder, device, silent, 1, **given)
    return str(caught.value)


@pytest.mark.parametrize("change", [{"seed": 2}, {"width": 32}, {"num_steps": 8}, {"encoder": "lstm"}])
def test_a_checkpoint_of_other_parameters_is_refused(days, tmp_path, no_days, change):
    TrainingRun(TINY, tmp_path, "cpu").train(days[:1], silent)
    kept = (tmp_path / "checkpoint.pt").read_bytes()
    assert "checkpoint.pt was made with other parameters" in refused(replace(TINY, **change), tmp_path)
    assert (tmp_path / "checkpoint.pt").read_bytes() == kept


def test_a_checkpoint_of_a_version_with_other_parameters_is_refused(days, tmp_path, no_days):
    TrainingRun(TINY, tmp_path, "cpu").train(days[:1], silent)
    state = torch.load(tmp_path / "checkpoint.pt", weights_only=True)
    state["params"]["warmth"] = 3
    torch.save(state, tmp_path / "checkpoint.pt")
    assert "was made with other parameters" in refused(TINY, tmp_path)


@pytest.mark.parametrize("keeps", [b"", b"no checkpoint", b"broken\n", b"x", None])
def test_a_broken_checkpoint_is_refused(days, tmp_path, no_days, keeps):
    TrainingRun(TINY, tmp_path, "cpu").train(days[:1], silent)
    path = tmp_path / "checkpoint.pt"
    path.write_bytes(path.read_bytes()[:-500] if keeps is None else keeps)
    assert "checkpoint.pt cannot be read as a checkpoint" in refused(TINY, tmp_path)


@pytest.mark.parametrize("device", ["tpu", "", "cuda:x", "cpu:0", "mps"])
def test_a_device_that_is_none_is_refused(tmp_path, no_days, device):
    assert refused(TINY, tmp_path, device) == f"--device: must be cpu or cuda, got {device!r}"


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has such a device")
def test_a_graphics_processor_where_there_is_none_is_refused(tmp_path, no_days):
    for device in ("cuda", "cuda:1"):
        assert refused(TINY, tmp_path, device) == "--device: must be cpu on this machine, which has no CUDA device"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_refused_before_any_day_is_lived(tmp_path, no_days):
    (tmp_path / "file").write_text("mine")
    for folder in (tmp_path / "file", tmp_path / "file" / "net"):
        assert refused(TINY, folder).startswith(f"--out: {folder} cannot be written to: ")
    sentence = refused(TINY, tmp_path / "net", days_file=tmp_path / "file" / "days.pickle")
    assert sentence.startswith("--days-file: ")
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"num_days": 0}, r"num_days: must lie in 1\.\.100000, got 0"),
        ({"num_validation_days": 10_001}, "num_validation_days"),
        ({"num_steps": 0}, "num_steps"),
        ({"days_per_step": 65}, "days_per_step"),
        ({"cycles_per_day": 0}, "cycles_per_day"),
        ({"checkpoint_steps": 0}, "checkpoint_steps"),
    ],
)
def test_parameters_out_of_range_are_refused_by_name(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        ForecasterParams(**change)


# --- days that a file keeps ------------------------------------------------------------------------------------------

ORDERS = [DayOrder(3, stride=4), DayOrder(4, stride=4)]


def test_days_of_a_file_are_the_days_that_would_be_lived_and_are_not_lived_again(
    in_small_cities, tmp_path, monkeypatch
):
    file, lived = tmp_path / "days.pickle", []
    real = training_days.training_day
    monkeypatch.setattr(training_days, "training_day", lambda order: lived.append(order) or real(order))
    first = learning_days(ORDERS[:1], file, silent, 1)
    both = learning_days(ORDERS, file, silent, 1)
    turned = learning_days(ORDERS[::-1], file, silent, 1)
    assert lived == ORDERS
    plain = learning_days(ORDERS, None, silent, 1)
    for kept, expected in zip([*first, *both, *turned], [plain[0], *plain, *plain[::-1]], strict=True):
        assert kept.arrived_people.tobytes() == expected.arrived_people.tobytes()
        for name, array in expected.inputs.items():
            assert kept.inputs[name].dtype == array.dtype
            assert kept.inputs[name].tobytes() == array.tobytes()
    assert [path.name for path in tmp_path.iterdir()] == ["days.pickle"]


@pytest.mark.parametrize("content", [b"", b"no days", b"\x80\x04]\x94."])
def test_a_file_without_days_is_refused_and_left_as_it_is(tmp_path, no_days, content):
    file = tmp_path / "mine.txt"
    file.write_bytes(content)
    assert f"--days-file: {file} must be a file of days" in refused(TINY, tmp_path / "net", days_file=file)
    assert file.read_bytes() == content


def test_small_scenarios_are_of_the_training_families():
    assert small_scenario(3).suite == "training"
