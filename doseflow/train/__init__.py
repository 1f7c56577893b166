"""
Training: simulated days in, weights out. torch lives in networks, train and export, and nowhere else.

Each net has one file that reads from top to bottom; what it trains on is made by the simulator with a seed, so that one
command makes the same bundle again. Nothing that serves imports it.
"""
