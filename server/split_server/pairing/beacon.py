"""Addresses of the running servers, left in their state folder for ``split-server pair``.

A server that is the only one says where it is; of several each has an entry under its name.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from split_files import parse_document
from split_server.pairing.lock import held
from split_server.pairing.state import StateFolder
from split_wire.fields import is_name

FILE = "running.json"
# More replicas than anybody has, and those that were there once.
_MOST_REPLICAS = 64


@dataclass(frozen=True, slots=True)
class Running:
    """``urls``: where devices find the server; ``local``: whether its certificate is of the local
    authority, None where that is not known. ``public``: the address that it was given for devices,
    of a balancer for example; ``replicas``: names of the servers, None of an only one.
    """

    urls: tuple[str, ...] = ()
    local: bool | None = None
    public: str | None = None
    replicas: tuple[str | None, ...] = (None,)


def leave(
    state: StateFolder,
    urls: Sequence[str],
    *,
    local: bool,
    public: str | None = None,
    replica: str | None = None,
) -> None:
    """The ``urls`` under which devices find the server called ``replica``. Raises StateUnusable."""
    entry = {"urls": list(urls), "local": local, "public": public}
    with held(state, FILE):
        if replica is not None:
            others = [one for one in _entries(state) if one.get("name") not in (None, replica)]
            entry = {"replicas": [*others, {"name": replica, **entry}][-_MOST_REPLICAS:]}
        state.write(FILE, json.dumps(entry).encode())


def running(state: StateFolder) -> Running:
    """The servers that ran last with this folder; of several the one that started last comes
    first. Raises StateUnusable.
    """
    found = [_read(entry) for entry in reversed(_entries(state))]
    if not found:
        return Running()
    return Running(
        tuple(dict.fromkeys(url for one in found for url in one.urls)),
        found[0].local,
        next((one.public for one in found if one.public is not None), None),
        tuple(name for one in found for name in one.replicas),
    )


def _entries(state: StateFolder) -> list[dict[str, Any]]:
    """One of an only server, or those of several; as far as they can be read."""
    data = state.read(FILE)
    try:
        document = {} if data is None else parse_document(data)
    except ValueError:
        return []
    if not isinstance(document, dict):
        return []
    several = document.get("replicas")
    if several is None:
        return [document]
    entries = several if isinstance(several, list) else []
    named = [one for one in entries if isinstance(one, dict) and is_name(one.get("name"))]
    return named[-_MOST_REPLICAS:]


def _read(entry: dict[str, Any]) -> Running:
    urls, local, public = entry.get("urls"), entry.get("local"), entry.get("public")
    given = urls if isinstance(urls, list) else []
    return Running(
        tuple(url for url in given if isinstance(url, str)),
        local if isinstance(local, bool) else None,
        public if isinstance(public, str) else None,
        (entry.get("name"),),
    )
