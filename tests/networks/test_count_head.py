"""CountQuantiles against the same formula in numpy."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from doseflow.domain.forecast import QUANTILE_LEVELS  # noqa: E402
from doseflow.forecast.count_quantiles import count_quantiles  # noqa: E402
from doseflow.networks.count_head import CountQuantiles  # noqa: E402

HEAD = CountQuantiles(QUANTILE_LEVELS)


def test_it_is_the_formula_of_the_plain_forecasts():
    rng = np.random.default_rng(5)
    mean, dispersion = 10 ** rng.uniform(-1, 4, 5000), 1 + 10 ** rng.uniform(-3, 1.5, 5000)
    got = HEAD(torch.as_tensor(mean), torch.as_tensor(dispersion)).numpy()
    expected = count_quantiles(mean, dispersion)
    assert (np.abs(got - expected) / np.maximum(expected, 1)).max() < 1e-4


def test_nobody_expected_is_nobody_at_every_level():
    assert (HEAD(torch.zeros(4), torch.tensor([1.0, 2.0, 50.0, 1e6])) == 0).all()


@pytest.mark.parametrize("dispersion", [1.0, 3.0])
def test_it_has_no_step_where_hardly_anybody_is_expected(dispersion):
    mean = torch.logspace(-9, 0, 2000, dtype=torch.float64)
    quantiles = HEAD(mean, torch.full_like(mean, dispersion))
    # Of someone expected once in a thousand periods no level may make a tenth of a person.
    assert quantiles.diff(dim=0).abs().max() < 0.1


def test_gradients_stay_finite_where_nobody_is_expected():
    mean = torch.zeros(3, requires_grad=True)
    HEAD(mean, torch.ones(3)).sum().backward()
    assert torch.isfinite(mean.grad).all()
