"""
What would be good: takes a CityState and an ArrivalForecast, gives a Proposal for all sites jointly, each decision
with its why.

A proposal may break rules (the feasible room judges it), and knows no solver, no store and no clock; what is unknown is
left alone, and the same state always gives the same proposal.

    situation       everything that the families of rules look at, computed once
    *_rules         one family of the decision matrix each
    exchange        moves people by what a person is worth; proportional, max_pressure, c_mu and index_exchange say what
    learned_policy  the same with values of a net (site_view, site_values), and walk-ins by price (arrival_prices)
    queueing        the theory they rest on
"""
