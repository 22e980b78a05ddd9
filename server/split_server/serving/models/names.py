"""A model's name in the path of a request: ``/m/NAME/...`` goes on as ``/...``, with it beside.

All guards then see the path that they know, so that what is public, which errors clients read and
where a token may stand is the same for every model.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from split_server.security.public import ALWAYS, PublicPaths

PREFIX = "/m/"
_KEY = "split.model"


def path_of(name: str) -> str:
    """Where the API of a model is."""
    return f"{PREFIX}{name}"


def named_in(scope: Scope) -> str | None:
    """The name in the path of a request, whatever it is; None for the root's."""
    name: str | None = scope.get(_KEY)
    return name


class Named:
    """Pure ASGI, outside of the guards. ``page``: what is served at the root alone, and stays as it
    is below a name, where nothing is found.
    """

    def __init__(self, app: ASGIApp, page: PublicPaths) -> None:
        self._app, self._page = app, page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            scope = self._renamed(scope)
        await self._app(scope, receive, send)

    def _renamed(self, scope: Scope) -> Scope:
        """A scope of its own, where there is a name in its path."""
        root, path = str(scope.get("root_path", "")), str(scope["path"])
        if root and path.startswith(f"{root}/"):
            path = path.removeprefix(root)
        else:
            root = ""
        if not path.startswith(PREFIX):
            return scope
        name, _, below = path.removeprefix(PREFIX).partition("/")
        below = f"/{below}"
        if below in self._page and below not in ALWAYS:
            return scope
        return {**scope, "path": f"{root}{below}", _KEY: name}
