"""Benchmarks: each prints figures measured in one run and can write them as JSON. Nothing here is a test."""
