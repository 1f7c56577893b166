"""
How a net sees the city: the order and scaling of features, the layout of actions, and what is possible now.

Takes a CityState, gives plain arrays; knows no net and no training library. A net's file carries the schema version
that it was made for.
"""
