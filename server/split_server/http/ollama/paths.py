"""The paths of Ollama's API."""

from __future__ import annotations

from typing import Final

TAGS, PS, VERSION = "/api/tags", "/api/ps", "/api/version"
SHOW, CHAT, GENERATE = "/api/show", "/api/chat", "/api/generate"
# What manages models, which this server does not; and the methods of each.
REFUSED: Final = {
    "/api/pull": ("POST",),
    "/api/push": ("POST",),
    "/api/create": ("POST",),
    "/api/copy": ("POST",),
    "/api/delete": ("DELETE",),
    "/api/blobs/{digest}": ("HEAD", "POST"),
}
