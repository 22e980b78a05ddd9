"""The running server's address, left in its state folder for ``split-server pair``."""

from __future__ import annotations

import json
from collections.abc import Sequence

from split_files import parse_document
from split_server.pairing.state import StateFolder

FILE = "running.json"


def leave(state: StateFolder, urls: Sequence[str]) -> None:
    """The ``urls`` under which devices find the server. Raises StateUnusable."""
    state.write(FILE, json.dumps({"urls": list(urls)}).encode())


def urls_left(state: StateFolder) -> list[str]:
    """The URLs of the server that ran last with this folder. Raises StateUnusable."""
    data = state.read(FILE)
    try:
        found = [] if data is None else parse_document(data)["urls"]
    except (ValueError, KeyError, TypeError):
        return []
    return [url for url in found if isinstance(url, str)] if isinstance(found, list) else []
