"""SiteValueNet: what one person more or fewer of each role, and one arrival more, is worth at a site."""

from __future__ import annotations

from torch import Tensor, nn


class SiteValueNet(nn.Module):
    """
    A few wide layers with residuals over the features of each site; sites do not see each other.

    Parameters
    ----------
    num_features, num_values
        F of `policy/site_view.py`, and the changes that are valued, V.
    """

    def __init__(self, num_features: int, num_values: int, width: int = 256, num_layers: int = 3) -> None:
        super().__init__()
        self.enter = nn.Linear(num_features, width)
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(num_layers)])
        self.said = nn.Linear(width, num_values)
        nn.init.zeros_(self.said.bias)

    def forward(self, features: Tensor) -> Tensor:
        """What each change adds, in units of the site's scale, (N, V), from (N, F)."""
        hidden = nn.functional.gelu(self.enter(features), approximate="tanh")
        for layer in self.layers:
            hidden = hidden + nn.functional.gelu(layer(hidden), approximate="tanh")
        values: Tensor = self.said(hidden)
        return values
