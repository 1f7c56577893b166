"""
The city simulator: a world as arrays that one pure step moves on, and the real or made days that feed it.

Takes a city, a day's bookings, a seed, and the orders that were sent. Gives site reports as the bytes a site would
send, and receipts. It never sees a plan, a forecast or a store: it stands outside, where the sites stand.
"""
