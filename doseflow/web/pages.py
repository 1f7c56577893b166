"""The dashboard and the page of the API, both from files of our own: nothing is loaded from elsewhere."""

from __future__ import annotations

import mimetypes
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from doseflow.web.actions import needs, open_to_all
from doseflow.web.json_answer import JsonAnswer

STATIC_FOLDER = Path(__file__).parent / "static"
# Some machines map .js to something that browsers refuse to run as a module.
mimetypes.add_type("text/javascript", ".js")


class FreshFiles(StaticFiles):
    """Static files that the browser asks for again each time, and gets as 304 while they are the same."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file, with `no-cache`."""
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        return response


def add_pages(app: FastAPI) -> None:
    """
    Serve the dashboard at `/`, the API's page at `/docs`, the sign-in at `/sign-in`, and their files under `/static`.

    The pages are open: they hold nothing of the city, and what they ask for then is not.
    """
    app.mount("/static", FreshFiles(directory=STATIC_FOLDER), name="static")

    @app.get("/openapi.json", include_in_schema=False)
    @needs("api.read")
    def openapi() -> JsonAnswer:
        return JsonAnswer(app.openapi())

    @app.get("/sign-in", include_in_schema=False)
    @open_to_all
    def sign_in_page() -> FileResponse:
        return _page("sign_in.html")

    @app.get("/", include_in_schema=False)
    @open_to_all
    def dashboard() -> FileResponse:
        return _page("index.html")

    @app.get("/docs", include_in_schema=False)
    @open_to_all
    def api_page() -> FileResponse:
        return _page("docs.html")


def _page(name: str) -> FileResponse:
    return FileResponse(STATIC_FOLDER / name, headers={"Cache-Control": "no-cache"})
