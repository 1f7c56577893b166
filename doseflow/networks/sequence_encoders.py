"""What the last periods of a site say, as one row of numbers: by temporal convolution, or by an LSTM."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class ConvolutionEncoder(nn.Module):
    """
    Dilated causal convolutions with residuals (Bai, Kolter and Koltun 2018, arXiv:1803.01271).

    Its field of view is 31 periods with four layers of three taps, more than the 24 that are given.
    """

    def __init__(self, channels: int, width: int, dilations: tuple[int, ...] = (1, 2, 4, 8)) -> None:
        super().__init__()
        self.enter = nn.Conv1d(channels, width, kernel_size=1)
        self.layers = nn.ModuleList([nn.Conv1d(width, width, 3, padding=0, dilation=step) for step in dilations])
        self.paddings = [2 * step for step in dilations]

    def forward(self, recent: Tensor) -> Tensor:
        """(B * S, L, C) to (B * S, D)."""
        rows = self.enter(recent.transpose(1, 2))
        for layer, padding in zip(self.layers, self.paddings, strict=True):
            rows = rows + nn.functional.gelu(layer(nn.functional.pad(rows, (padding, 0))))
        latest: Tensor = rows[:, :, -1]
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


def encoder_of(name: str, channels: int, width: int) -> nn.Module:
    """
    The encoder of a name: `convolution` or `lstm`.

    Raises
    ------
    ValueError
    """
    encoders = {"convolution": ConvolutionEncoder, "lstm": LstmEncoder}
    if name not in encoders:
        raise ValueError(f"encoder: must be one of {', '.join(encoders)}, got {name!r}")
    made: nn.Module = encoders[name](channels, width)
    return made


def latest_of(encoder: nn.Module, recent: Tensor) -> Tensor:
    """An encoder over the sites of several replicas, (B, S, L, C) to (B, S, D)."""
    replicas, sites = recent.shape[:2]
    rows: Tensor = encoder(recent.flatten(0, 1))
    return torch.unflatten(rows, 0, (replicas, sites))
