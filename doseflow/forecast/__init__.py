"""
Who will come: takes a CityState, gives an ArrivalForecast of quantiles with the basis each site's forecast rests on.

It decides nothing, keeps nothing from one cycle to the next, and makes no zero of anything unknown: only closed hours
are 0.
"""
