"""numpy and torch walk the same path when they are given the same numbers."""

import numpy as np
import pytest
from flow_days import play, rules_of

from doseflow.simulate.draws import NumpyDraws

torch = pytest.importorskip("torch")
torch_names = pytest.importorskip("array_api_compat.torch")


class RecordedDraws:
    """Draws that keep what they gave."""

    def __init__(self, seed):
        self._draws = NumpyDraws(np.random.default_rng(seed))
        self.given = []

    def uniform(self, shape):
        self.given.append(self._draws.uniform(shape))
        return self.given[-1]


class ReplayedDraws:
    """Gives recorded numbers again, as torch tensors."""

    def __init__(self, given):
        self._given = iter(given)

    def uniform(self, shape):
        numbers = torch.asarray(next(self._given))
        assert tuple(numbers.shape) == tuple(shape)
        return numbers


@pytest.mark.parametrize("step", [1.0, 0.5])
def test_torch_and_numpy_play_the_same_day_from_the_same_draws(step):
    rng = np.random.default_rng(1)
    arrivals = rng.poisson(1.3 * step, (int(600 / step), 2, 5))
    posts = rng.integers(2, 8, (10, 2, 5, 3)).repeat(arrivals.shape[0] // 10, axis=0)
    rules = rules_of(step, [3.0, 2.0, 3.0], [1.43, 1.0, 1.0], long_share=0.05, after=20.0, share=0.02)
    recorded = RecordedDraws(2)
    by_numpy = play(arrivals, posts, rules, draws=recorded)
    by_torch = play(arrivals, posts, rules, draws=ReplayedDraws(recorded.given), xp=torch_names)
    assert by_numpy.left.sum() > 0
    for name in ("joined", "started", "left", "served", "queued", "finished"):
        np.testing.assert_array_equal(getattr(by_numpy, name), getattr(by_torch, name), err_msg=name)
    np.testing.assert_allclose(by_numpy.waited_minutes, by_torch.waited_minutes, atol=1e-3)
    for name in ("queued", "joined", "gone", "seated", "left_minutes"):
        of_numpy, of_torch = getattr(by_numpy.flow, name), getattr(by_torch.flow, name)
        assert str(of_torch.dtype) == f"torch.{of_numpy.dtype}", name
    np.testing.assert_allclose(by_numpy.flow.left_minutes, by_torch.flow.left_minutes, atol=1e-3)


def test_more_axes_in_front_change_nothing():
    """A batch is so many cities side by side: each day is that of its own draws."""
    rng = np.random.default_rng(3)
    arrivals = rng.poisson(1.0, (200, 1, 4))
    rules = rules_of(1.0, [3.0, 2.0], [1.43, 1.0])
    recorded = RecordedDraws(4)
    alone = play(arrivals, np.array([5, 4]), rules, draws=recorded)
    twice = [np.concatenate([given, given]) for given in recorded.given]
    together = play(arrivals.repeat(2, axis=1), np.array([5, 4]), rules, draws=_Given(twice))
    for replica in range(2):
        np.testing.assert_array_equal(alone.started[:, 0], together.started[:, replica])


class _Given:
    def __init__(self, given):
        self._given = iter(given)

    def uniform(self, shape):
        return next(self._given)
