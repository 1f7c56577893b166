"""Samples of other rooms, for the tests of evaluate."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "store"))  # the samples of the store's own tests
