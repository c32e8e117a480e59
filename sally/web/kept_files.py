"""Scripts and styles of the pages, which a browser fetches once and keeps.

They lie under an address that changes with what is in them, so that nobody keeps an old one: else
every page of a study fetches fifteen files that its visitor has had on the page before.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path, PurePath

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

FOLDER = Path(__file__).parent / "static"
FOREVER = "public, max-age=31536000, immutable"


@cache
def version() -> str:
    """A name for all that is in the files; of a running server it stays the same."""
    whole = hashlib.sha256()
    for file in sorted(FOLDER.iterdir()):
        whole.update(f"{file.name} {file.stat().st_size} ".encode() + file.read_bytes())
    return whole.hexdigest()[:12]


def address() -> str:
    """Where the files of this version lie."""
    return f"/static/{version()}"


class KeptFiles(StaticFiles):
    """The files, under this version's name to be kept; under any other name as they are now.

    A page that was loaded before its server was replaced asks for a version that is gone.
    """

    def __init__(self) -> None:
        super().__init__(directory=FOLDER)

    async def get_response(self, path: str, scope: Scope) -> Response:
        """One file; nothing but this version may be kept."""
        asked, *rest = PurePath(path).parts or ("",)
        response = await super().get_response("/".join(rest), scope)
        if asked == version():
            response.headers["cache-control"] = FOREVER
        return response
