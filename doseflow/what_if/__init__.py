"""
The what-if room: the rest of today lived through twice, as it stands and with changes, and the two compared.

Takes the latest state and its forecast. Gives bands over a few replicas in which both futures have the same chance, and
what the first plan of each orders. It decides nothing, stores nothing, and says what it had to assume.
"""
