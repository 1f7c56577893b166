"""
The forecaster's trial on real series: takes recorded series, gives figures of every model with their intervals.

Every model sees the same thing, the history before the moment it forecasts from, and is scored on values it was never
given. Nothing is tuned here, and nothing here is used in service.
"""
