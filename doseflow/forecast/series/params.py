"""What may be set in the forecast of a table of series."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SeriesForecastParams:
    """Each has its reason in docs/background/series-forecast.md."""

    seed: int = 0
    """Of the draw of past origins that the model is fitted on."""
    max_cells: int = 3_000_000
    """Series times steps that are used; of a larger table the newest steps."""
    max_steps: int = 60_000
    """Newest steps that are used."""
    rows_per_fit: int = 30_000
    """Series times past origins behind one fit."""
    max_fits: int = 16
    """Groups of steps ahead, each with its own fit."""
    tree_examples: int = 30_000
    """Past origins and targets that trees are fitted on."""

    def __post_init__(self) -> None:
        for name in ("max_cells", "max_steps", "rows_per_fit", "max_fits", "tree_examples"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: must be at least 1, got {getattr(self, name)}")
