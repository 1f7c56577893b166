"""Values as people read them, by Grafana's names of units."""

from __future__ import annotations

_BYTE_STEPS = ("B", "KiB", "MiB", "GiB", "TiB")


def written_value(value: float, unit: str) -> str:
    """A value with its unit; a unit that is not known is left off."""
    if unit == "s":
        return f"{_short(value * 1000)} ms" if abs(value) < 1 else f"{_short(value)} s"
    if unit == "percentunit":
        return f"{_short(100 * value)} %"
    if unit == "bytes":
        return _bytes(value)
    suffix = {"m": " min", "celsius": " °C", "watt": " W"}.get(unit, "")
    return f"{_short(value)}{suffix}"


def _short(value: float) -> str:
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if value == round(value):
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}".rstrip("0").rstrip(".")


def _bytes(value: float) -> str:
    for step in _BYTE_STEPS[:-1]:
        if abs(value) < 1024:
            return f"{_short(value)} {step}"
        value /= 1024
    return f"{_short(value)} {_BYTE_STEPS[-1]}"
