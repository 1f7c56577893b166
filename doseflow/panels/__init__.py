"""
Takes Grafana's dashboard files and a Prometheus, and draws every panel on one page, which loads nothing.

It knows the few kinds of panel that our dashboards have and refuses others; it is no Grafana.
"""
