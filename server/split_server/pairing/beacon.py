"""The running server's address, left in its state folder for ``split-server pair``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from split_files import parse_document
from split_server.pairing.state import StateFolder

FILE = "running.json"


@dataclass(frozen=True, slots=True)
class Running:
    """``urls``: where devices find the server; ``local``: whether its certificate is of the local
    authority, None where that is not known.
    """

    urls: tuple[str, ...] = ()
    local: bool | None = None


def leave(state: StateFolder, urls: Sequence[str], *, local: bool) -> None:
    """The ``urls`` under which devices find the server. Raises StateUnusable."""
    state.write(FILE, json.dumps({"urls": list(urls), "local": local}).encode())


def running(state: StateFolder) -> Running:
    """The server that ran last with this folder. Raises StateUnusable."""
    data = state.read(FILE)
    try:
        document = {} if data is None else parse_document(data)
    except ValueError:
        return Running()
    return _read(document) if isinstance(document, dict) else Running()


def _read(document: dict[str, Any]) -> Running:
    urls, local = document.get("urls"), document.get("local")
    given = urls if isinstance(urls, list) else []
    texts = tuple(url for url in given if isinstance(url, str))
    return Running(texts, local if isinstance(local, bool) else None)
