"""Days lived once for all tests of the folder."""

import pytest

pytest.importorskip("torch")

from train_samples import small_scenario  # noqa: E402

from doseflow.train import training_days  # noqa: E402
from doseflow.train.training_days import DayOrder, day_of_scenario  # noqa: E402


@pytest.fixture(scope="session")
def days():
    """Three small days, looked at every five minutes."""
    return [day_of_scenario(small_scenario(seed), DayOrder(seed, stride=1, with_peers=True)) for seed in (3, 4, 5)]


@pytest.fixture
def in_small_cities(monkeypatch):
    """Days of orders are lived in small cities, for an hour."""
    monkeypatch.setattr(training_days, "training_scenario", lambda seed: small_scenario(seed, hours=(9, 10)))
