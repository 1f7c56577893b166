"""The models by name; what one needs is imported when it is made, so that a missing library costs it alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from doseflow.bench.forecast.model import SeriesModel
from doseflow.errors import InputWrong
from doseflow.forecast.series.plain.historical_average import HistoricalAverage
from doseflow.forecast.series.plain.seasonal_naive import SeasonalNaive


def _ours(_seed: int) -> SeriesModel:
    from doseflow.bench.forecast.our_model import OurForecaster

    return OurForecaster()


def _auto_ets(_seed: int) -> SeriesModel:
    from doseflow.bench.forecast.peers.statistical import auto_ets

    return auto_ets()


def _auto_arima(_seed: int) -> SeriesModel:
    from doseflow.bench.forecast.peers.statistical import auto_arima

    return auto_arima()


def _boosted_trees(seed: int) -> SeriesModel:
    from doseflow.bench.forecast.peers.boosted_trees import BoostedTrees

    return BoostedTrees(seed)


def _mlforecast(seed: int) -> SeriesModel:
    from doseflow.bench.forecast.peers.mlforecast_trees import MlforecastTrees

    return MlforecastTrees(seed)


def _lstm(seed: int) -> SeriesModel:
    from doseflow.bench.forecast.peers.networks import lstm

    return lstm(seed)


def _stid(seed: int) -> SeriesModel:
    from doseflow.bench.forecast.peers.networks import stid

    return stid(seed)


MODELS: Mapping[str, Callable[[int], SeriesModel]] = {
    "doseflow": _ours,
    "seasonal_naive": lambda _: SeasonalNaive(),
    "historical_average": lambda _: HistoricalAverage(),
    "auto_ets": _auto_ets,
    "auto_arima": _auto_arima,
    "boosted_trees": _boosted_trees,
    "mlforecast_lightgbm": _mlforecast,
    "lstm": _lstm,
    "stid": _stid,
}
QUICK = ("doseflow", "seasonal_naive", "historical_average", "auto_ets", "boosted_trees")


def require(name: str) -> None:
    """
    Refuse a name that no model has.

    Raises
    ------
    InputWrong
    """
    if name not in MODELS:
        raise InputWrong(f"--model: must be one of {', '.join(MODELS)}, got {name!r}")


def make_model(name: str, seed: int) -> SeriesModel | str:
    """
    A model ready to be fitted, or one sentence on why it cannot be run here.

    Raises
    ------
    InputWrong
        No model has this name.
    """
    require(name)
    try:
        return MODELS[name](seed)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("doseflow."):
            return f"{name}: not run, this version has no {error.name}"
        return f"{name}: not run, the package {error.name} is not installed"
