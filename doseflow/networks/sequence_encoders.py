"""What the last periods of a site say, as one row of numbers: by temporal convolution, or by an LSTM."""

from __future__ import annotations

import torch
from torch import Tensor, nn

TAPS = 3
"""Periods that a convolution sees at once."""


class ConvolutionEncoder(nn.Module):
    """
    Dilated causal convolutions with residuals (Bai, Kolter and Koltun 2018, arXiv:1803.01271), dilated 1, 2, 4, 8.

    Its field of view is 31 periods, more than the 24 that are given. Only the latest period of the last layer is read,
    so each layer is computed at every second period of the one before, counted from the latest: the same numbers for a
    fifth of the work. Its three taps lie side by side in one matrix, which processors multiply faster than they fold.
    """

    def __init__(self, channels: int, width: int, num_layers: int = 4) -> None:
        super().__init__()
        self.enter = nn.Linear(channels, width)
        self.layers = nn.ModuleList([nn.Linear(TAPS * width, width) for _ in range(num_layers)])

    def forward(self, recent: Tensor) -> Tensor:
        """(B * S, L, C) to (B * S, D)."""
        rows = self.enter(recent)
        length = recent.shape[1]
        for layer in self.layers:
            # The last window must end at the latest period.
            padding = 1 if length % 2 == 0 else 2
            padded = nn.functional.pad(rows, (0, 0, padding, 0))
            windows = [padded[:, tap : length + padding - TAPS + 1 + tap : 2] for tap in range(TAPS)]
            seen = nn.functional.gelu(layer(torch.cat(windows, dim=-1)))
            rows = rows[:, 1 - length % 2 :: 2] + seen
            length = (length + 1) // 2
        latest: Tensor = rows[:, -1]
        return latest


class LstmEncoder(nn.Module):
    """Long short-term memory (Hochreiter and Schmidhuber 1997, doi:10.1162/neco.1997.9.8.1735): the ablation."""

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(channels, width, batch_first=True)

    def forward(self, recent: Tensor) -> Tensor:
        """(B * S, L, C) to (B * S, D)."""
        rows, _ = self.lstm(recent)
        latest: Tensor = rows[:, -1]
        return latest


ENCODERS = {"convolution": ConvolutionEncoder, "lstm": LstmEncoder}


def encoder_of(name: str, channels: int, width: int) -> nn.Module:
    """
    The encoder of a name: `convolution` or `lstm`.

    Raises
    ------
    ValueError
    """
    if name not in ENCODERS:
        raise ValueError(f"encoder: must be one of {', '.join(ENCODERS)}, got {name!r}")
    made: nn.Module = ENCODERS[name](channels, width)
    return made


def latest_of(encoder: nn.Module, recent: Tensor) -> Tensor:
    """An encoder over the sites of several replicas, (B, S, L, C) to (B, S, D)."""
    replicas, sites = recent.shape[:2]
    rows: Tensor = encoder(recent.flatten(0, 1))
    return torch.unflatten(rows, 0, (replicas, sites))
