"""Which action each route is: named beside the route, looked up here by whoever lets callers in."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute, Mount, compile_path

OPEN = "open"
"""What routes are that whoever can connect may ask: they tell nothing of the city."""
_ATTRIBUTE = "doseflow_action"

Route = TypeVar("Route", bound=Callable[..., Any])


def needs(action: str) -> Callable[[Route], Route]:
    """
    The route is an action of `domain.permissions`; `site.{command}` takes the part of that name from its path.

    It stands below the line that makes the route.
    """

    def named(route: Route) -> Route:
        setattr(route, _ATTRIBUTE, action)
        return route

    return named


open_to_all = needs(OPEN)


def action_of_route(route: Any) -> str | None:
    """The action that a route names; None where it names none."""
    return getattr(route, _ATTRIBUTE, None)


@dataclass(frozen=True, slots=True)
class NamedRoute:
    """A route with the action that it names."""

    path: str
    methods: frozenset[str]
    action: str | None
    pattern: re.Pattern[str]


def named_routes(app: FastAPI) -> list[NamedRoute]:
    """Every route of the application, in the order in which they are tried; files that are mounted are open."""
    return [_named(route) for route in iter_route_contexts(app.routes)]


def action_of(routes: Sequence[NamedRoute], method: str, path: str) -> str | None:
    """The action of a request; None where no route answers it, or the one that does names none."""
    for route in routes:
        match = route.pattern.match(path) if method in route.methods else None
        if match is not None:
            return None if route.action is None else _filled(route.action, match.groupdict())
    return None


def _named(route: Any) -> NamedRoute:
    original: BaseRoute = getattr(route, "original_route", route)
    if isinstance(original, Mount):
        return NamedRoute(original.path, frozenset({"GET", "HEAD"}), OPEN, original.path_regex)
    methods = frozenset(route.methods or ())
    return NamedRoute(route.path, methods, action_of_route(route.endpoint), compile_path(route.path)[0])


def _filled(action: str, parts: Mapping[str, str]) -> str:
    return action.format_map(parts) if "{" in action else action
