"""How much a history may hold."""

MOST_HORIZON_STEPS = 10_000
"""Steps that may be asked for."""
MOST_ROWS = 5_000_000
"""Rows of a file."""
MOST_SERIES = 10_000
MOST_CELLS = 40_000_000
"""Series times steps of the grid that the rows span."""
MOST_OUTPUT_ROWS = 5_000_000
"""Series times steps ahead."""
LEAST_KNOWN_VALUES = 8
"""Known values that at least one series must have."""
LARGEST_VALUE = 1e12
"""A value or covariate beyond this, either way, is a mistake."""
LONGEST_ID = 200
"""Characters of a series_id."""
