"""
Plain forecasts of series that others are blended with and held against: the same phase before, its mean, and what trees
are shown. They see what is open, one value after another, with gaps filled.
"""
