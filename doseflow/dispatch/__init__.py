"""
Dispatch: takes a plan and the orders that stand, gives the orders to make and to withdraw, and hands out what waits.

It decides nothing about the city, keeps nothing, and knows outside systems only as gateways.
"""
