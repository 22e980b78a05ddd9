"""The ledger's file: one JSON document with a checksum, written whole, read suspiciously.

``{"format": "gatelink.noise-ledger", "version": 2, "name": 32 hexadecimal digits, "serial": number
of changes, "devices": [who wrote it, as 32 digits each], "spent": {identity: {model digest:
[{"sigma", "distance", "width", "rows", "sendings"}]}}, "sha256": of these four as canonical
JSON}``. Version 1 had "spent" alone; such a file is read as one that was never changed.
"""

from __future__ import annotations

import json
import math
import os
import re
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from split_client.noise.errors import LedgerDamaged, LedgerFailed
from split_client.noise.spent import Count, Kind, Spent
from split_client.owner_file import write_whole
from split_files import open_regular

FORMAT = "gatelink.noise-ledger"
VERSION = 2
MAX_BYTES = 16 << 20
# Of rows in one entry; a float64 still holds it exactly.
_MOST_ROWS = 1 << 53
MOST_DEVICES = 16
_NAME = re.compile("[0-9a-f]{32}")

# By identity, then by the digest of the model's manifest.
Accounts: TypeAlias = dict[str, dict[str, Spent]]


@dataclass(frozen=True, slots=True)
class Record:
    """A ledger's document. ``digest``: the checksum in its file, empty while it has none."""

    name: str
    serial: int = 0
    devices: tuple[str, ...] = ()
    accounts: Accounts = field(default_factory=dict)
    digest: str = ""


def read_ledger(path: Path) -> Record | None:
    """The file's document; None where there is none. Raises LedgerDamaged, LedgerFailed."""
    try:
        with open_regular(path) as file:
            data = file.read(MAX_BYTES + 1)
            names = os.fstat(file.fileno()).st_nlink
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LedgerFailed(path, error.strerror or str(error)) from error
    if names > 1:
        raise LedgerFailed(
            path, "it has a second name (a hard link), which would be left behind; remove one"
        )
    if len(data) > MAX_BYTES:
        raise LedgerDamaged(path, f"it is larger than {MAX_BYTES} bytes")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise LedgerDamaged(path, "it is not JSON") from error
    return _checked(document, path)


def write_ledger(path: Path, record: Record) -> Record:
    """Replace the file; durable when this returns, with the digest. Raises LedgerFailed."""
    summed = {
        "name": record.name,
        "serial": record.serial,
        "devices": list(record.devices),
        "spent": {
            identity: {model: entries_of(entry) for model, entry in models.items()}
            for identity, models in record.accounts.items()
        },
    }
    digest = _digest(summed)
    document = {"format": FORMAT, "version": VERSION, **summed, "sha256": digest}
    data = json.dumps(document, indent=1).encode()
    if len(data) > MAX_BYTES:
        raise LedgerFailed(path, f"it has grown beyond {MAX_BYTES} bytes")
    try:
        write_whole(path, data)
    except OSError as error:
        raise LedgerFailed(path, error.strerror or str(error)) from error
    return replace(record, digest=digest)


def entries_of(spent: Spent) -> list[dict[str, float]]:
    """The entries for what was spent, as they stand in the file."""
    return [
        {
            "sigma": kind.sigma,
            "distance": kind.distance,
            "width": kind.width,
            "rows": count.rows,
            "sendings": count.sendings,
        }
        for kind, count in spent.counts
    ]


def _digest(spent: object) -> str:
    return sha256(json.dumps(spent, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _checked(document: object, path: Path) -> Record:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise LedgerDamaged(path, "it is not a noise ledger")
    version, spent = document.get("version"), document.get("spent")
    if type(version) is not int or version not in (1, VERSION):
        raise LedgerDamaged(path, f"its version is not {VERSION}; update split-client to read it")
    fields = ("name", "serial", "devices", "spent")
    summed = spent if version == 1 else {name: document.get(name) for name in fields}
    digest = _digest(summed)
    if not isinstance(spent, dict) or document.get("sha256") != digest:
        raise LedgerDamaged(path, "its checksum does not match")
    try:
        accounts = {
            identity: {model: _spent(entries) for model, entries in models.items()}
            for identity, models in spent.items()
        }
        if version == 1:
            return Record(_name_of(path), accounts=accounts, digest=digest)
        devices = tuple(map(_named, document["devices"]))
        serial = _whole(document["serial"], 1)
        return Record(_named(document["name"]), serial, devices, accounts, digest)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise LedgerDamaged(path, "an entry is not as one should be") from error


def _name_of(path: Path) -> str:
    """The name of a ledger that has none: always the same at the same place."""
    return sha256(b"gatelink noise ledger " + os.fsencode(path)).hexdigest()[:32]


def _named(value: object) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValueError("name")
    return value


def _spent(entries: list[dict[str, float]]) -> Spent:
    return Spent.total(Spent(((_kind(entry), _count(entry)),)) for entry in entries)


def _kind(entry: dict[str, float]) -> Kind:
    sigma, distance = float(entry["sigma"]), float(entry["distance"])
    if not (0.0 < sigma < math.inf and 0.0 < distance < math.inf):
        raise ValueError("sigma")
    return Kind(sigma, distance, _whole(entry["width"], 1))


def _count(entry: dict[str, float]) -> Count:
    return Count(_whole(entry["rows"], 0), _whole(entry["sendings"], 0))


def _whole(value: object, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value < _MOST_ROWS:
        raise ValueError("count")
    return value
