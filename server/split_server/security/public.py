"""Paths served without a token: they hold nothing of a user's, or are how a token is had."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

HEALTH_PATH, READY_PATH = "/health", "/ready"
# The pairing code is the credential of what comes before a device has a token. Clients of Ollama's
# API ask for its level before they send one; the same constant is told by every server.
ALWAYS = frozenset({HEALTH_PATH, READY_PATH, "/ca.crt", "/api/v1/pair", "/api/version"})


@dataclass(frozen=True, slots=True)
class PublicPaths:
    """``exact`` paths, those below ``folders`` (which end with /), and those of every server.

    ``pages``: documents that a link on another site may lead to.
    """

    exact: Collection[str] = frozenset()
    folders: tuple[str, ...] = ()
    pages: frozenset[str] = frozenset()

    def __contains__(self, path: str) -> bool:
        return path in ALWAYS or path in self.exact or path.startswith(self.folders)
