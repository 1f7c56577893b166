"""
The doors: HTTP API, live events, metrics, and the dashboard.

Takes a `LiveCity`, gives an ASGI application. It decides nothing: every answer is read from the living city or its
store, every request is handed to it, and errors become problem+json by one table (`error_responses`).
"""
