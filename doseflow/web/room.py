"""The command room at `/room/` and the site head's page at `/site/`: built pages that the package carries."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from fastapi import FastAPI, Request
from starlette.responses import RedirectResponse, Response

from doseflow.web.actions import open_to_all
from doseflow.web.error_responses import NO_SUCH_PAGE, problem_answer
from doseflow.web.packed_files import PackedFiles

ROOM_FOLDER = Path(__file__).parent / "room"
PAGE_OF_DOOR = {"room": "index.html", "site": "site.html"}
"""The page that answers every address below a door which names no file: the page itself reads the address."""


def add_room(app: FastAPI) -> None:
    """Serve the built pages."""
    files = PackedFiles(ROOM_FOLDER)

    def add_door(door: str, page: str) -> None:
        @app.get(f"/{door}", include_in_schema=False)
        @open_to_all
        def to_door() -> RedirectResponse:
            return RedirectResponse(f"/{door}/", status_code=308)

        @app.get(f"/{door}/{{path:path}}", include_in_schema=False)
        @open_to_all
        def built_file(path: str, request: Request) -> Response:
            if path in files:
                return files.answer(path, request.headers)
            if PurePosixPath(path).suffix in {".js", ".css", ".svg", ".json", ".map"} or page not in files:
                return problem_answer(NO_SUCH_PAGE, f"there is no {path} here")
            return files.answer(page, request.headers)

    for door, page in PAGE_OF_DOOR.items():
        add_door(door, page)
