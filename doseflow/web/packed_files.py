"""Static files that are kept packed in memory: read once, compressed once, and sent as the browser can take them."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response

LEAST_PACKED_BYTES = 500
_LEVEL = 9
_PACKABLE = ("text/", "application/json", "application/manifest+json", "image/svg+xml")


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file as it is and packed; `packed` is None where packing gains nothing."""

    media_type: str
    digest: str
    plain: bytes
    packed: bytes | None


class PackedFiles:
    """The files below a folder by their path in it, as they were when first asked for."""

    def __init__(self, folder: Path) -> None:
        self._known = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}

    def __contains__(self, path: str) -> bool:
        return path in self._known

    def answer(self, path: str, headers: Headers) -> Response:
        """
        A file, or 304 where the browser has it already.

        The browser asks again each time (`no-cache`): names stay the same from one version to the next.
        """
        file = _read(self._known[path])
        packs = file.packed is not None and "gzip" in headers.get("accept-encoding", "")
        etag = f'"{file.digest}-gzip"' if packs else f'"{file.digest}"'
        told = {"Cache-Control": "no-cache", "ETag": etag, "Vary": "Accept-Encoding"}
        if etag in headers.get("if-none-match", ""):
            return Response(status_code=304, headers=told)
        if packs:
            told["Content-Encoding"] = "gzip"
        return Response(file.packed if packs else file.plain, media_type=file.media_type, headers=told)


@cache
def _read(path: Path) -> PackedFile:
    plain = path.read_bytes()
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    packs = media_type.startswith(_PACKABLE) and len(plain) >= LEAST_PACKED_BYTES
    packed = gzip.compress(plain, _LEVEL, mtime=0) if packs else None
    return PackedFile(media_type, hashlib.sha256(plain).hexdigest()[:32], plain, packed)
