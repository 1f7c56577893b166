"""
Takes what came, cycle by cycle, and says whether it is still what the models were made for: forecasts against arrivals,
waits told against waits seen, and the readings themselves against those of a reference week. It recommends; it changes
nothing.
"""
