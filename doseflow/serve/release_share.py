"""The share of a challenger as people tell it, in per cent."""

from __future__ import annotations

from doseflow.errors import InputWrong

LEAST_SHARE_PERCENT, MOST_SHARE_PERCENT = 0.1, 99.9


def permille_of(share_percent: float) -> int:
    """
    The share in thousandths, in which it is kept; 0 is shadow.

    Raises
    ------
    InputWrong
        It is neither 0 nor one that can be kept: what is less would silently be a shadow.
    """
    # Not a number lies between no two bounds, and so is refused too.
    if share_percent != 0 and not LEAST_SHARE_PERCENT <= share_percent <= MOST_SHARE_PERCENT:
        bounds = f"must be 0, for shadow, or lie in {LEAST_SHARE_PERCENT}..{MOST_SHARE_PERCENT} %"
        raise InputWrong(f"share: {bounds}, got {share_percent:g} %; promote for all of it")
    return round(share_percent * 10)
