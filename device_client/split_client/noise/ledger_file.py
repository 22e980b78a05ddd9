"""The ledger's file: one JSON document with a checksum, written whole, read suspiciously.

``{"format": "gatelink.noise-ledger", "version": 1, "spent": {identity: {model digest: [{"sigma",
"distance", "width", "rows", "sendings"}]}}, "sha256": of "spent" as canonical JSON}``.
"""

from __future__ import annotations

import json
import math
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from split_client.noise.errors import LedgerDamaged, LedgerFailed
from split_client.noise.spent import Count, Kind, Spent
from split_client.owner_file import write_whole

FORMAT = "gatelink.noise-ledger"
VERSION = 1
MAX_BYTES = 16 << 20
# Of rows in one entry; a float64 still holds it exactly.
_MOST_ROWS = 1 << 53

# By identity, then by the digest of the model's manifest.
Accounts: TypeAlias = dict[str, dict[str, Spent]]


def read_ledger(path: Path) -> Accounts | None:
    """The accounts of the file; None where there is none. Raises LedgerDamaged, LedgerFailed."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LedgerFailed(path, error.strerror or str(error)) from error
    if len(data) > MAX_BYTES:
        raise LedgerDamaged(path, f"it is larger than {MAX_BYTES} bytes")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise LedgerDamaged(path, "it is not JSON") from error
    return _checked(document, path)


def write_ledger(path: Path, accounts: Accounts) -> None:
    """Replace the file; durable when this returns. Raises LedgerFailed."""
    spent = {
        identity: {model: entries_of(entry) for model, entry in models.items()}
        for identity, models in accounts.items()
    }
    document = {"format": FORMAT, "version": VERSION, "spent": spent, "sha256": _digest(spent)}
    data = json.dumps(document, indent=1).encode()
    if len(data) > MAX_BYTES:
        raise LedgerFailed(path, f"it has grown beyond {MAX_BYTES} bytes")
    try:
        write_whole(path, data)
    except OSError as error:
        raise LedgerFailed(path, error.strerror or str(error)) from error


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


def _checked(document: object, path: Path) -> Accounts:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise LedgerDamaged(path, "it is not a noise ledger")
    if document.get("version") != VERSION:
        raise LedgerDamaged(path, f"its version is not {VERSION}; update split-client to read it")
    spent = document.get("spent")
    if not isinstance(spent, dict) or document.get("sha256") != _digest(spent):
        raise LedgerDamaged(path, "its checksum does not match")
    try:
        return {
            identity: {model: _spent(entries) for model, entries in models.items()}
            for identity, models in spent.items()
        }
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise LedgerDamaged(path, "an entry is not as one should be") from error


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
