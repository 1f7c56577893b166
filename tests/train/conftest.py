"""Days lived once for all tests of the folder; torch is optional, so nothing is imported before a test asks."""

import pytest


@pytest.fixture(scope="session")
def days():
    """Three small days, looked at every five minutes."""
    from train_samples import small_scenario

    from doseflow.train.training_days import DayOrder, day_of_scenario

    return [day_of_scenario(small_scenario(seed), DayOrder(seed, stride=1, with_peers=True)) for seed in (3, 4, 5)]


@pytest.fixture
def in_small_cities(monkeypatch):
    """Days of orders are lived in small cities, and looked at for an hour."""
    from train_samples import small_scenario

    from doseflow.train import training_days

    monkeypatch.setattr(training_days, "training_scenario", lambda seed: small_scenario(seed, hours=(9, 10)))


@pytest.fixture
def no_days(monkeypatch):
    """Fails where a day is lived, which a refusal must come before."""

    def fail(*_arguments):
        raise AssertionError("a day was lived")

    monkeypatch.setattr("doseflow.train.forecaster.made_days", fail)
