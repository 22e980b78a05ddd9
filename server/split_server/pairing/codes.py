"""One-time pairing codes: made by ``split-server pair``, redeemed once at the running server.

A code has 40 bits and lives for minutes; it is void after 4,096 wrong tries of everybody together,
so guessing succeeds with a probability below 2**-27 per code. One address has ten tries a minute
(``attempts``): it takes eighty of them to void somebody else's code. What is stored is a salted,
slow hash.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import asdict, dataclass, replace
from hmac import compare_digest

from split_files import is_version, parse_document
from split_server.pairing.errors import StateUnusable
from split_server.pairing.lock import held
from split_server.pairing.state import StateFolder

FILE = "pairing.json"
LIFETIME = 300.0
MAX_TRIES = 4096
MAX_CODES = 8
# Crockford's base 32: no letters that look like digits.
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH = 8
_ALIKE = str.maketrans({"O": "0", "I": "1", "L": "1", "-": None, " ": None})
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Outstanding:
    """A code that may still be redeemed; ``expires`` in seconds since 1970."""

    salt: str
    digest: str
    expires: float
    tries: int = 0


class PairingCodes:
    """The outstanding codes of one state folder."""

    def __init__(self, state: StateFolder) -> None:
        self._state = state

    def make(self, now: float, lifetime: float = LIFETIME) -> str:
        """A fresh code, ``XXXX-XXXX``. Raises StateUnusable."""
        code = "".join(secrets.choice(ALPHABET) for _ in range(_LENGTH))
        salt = secrets.token_hex(16)
        with held(self._state, FILE):
            codes = [*_alive(_read(self._state), now)][-(MAX_CODES - 1) :]
            codes.append(Outstanding(salt, _digest(salt, code), now + lifetime))
            self._write(codes)
        return f"{code[:4]}-{code[4:]}"

    def redeem(self, given: str, now: float) -> bool:
        """Whether ``given`` was outstanding; it is not any more. Raises StateUnusable.

        A wrong one counts against all outstanding codes.
        """
        code = given.upper().translate(_ALIKE)
        with held(self._state, FILE):
            codes = _alive(_read(self._state), now)
            if not codes:
                return False
            matching = [c for c in codes if compare_digest(c.digest, _digest(c.salt, code))]
            if matching:
                self._write([c for c in codes if c not in matching])
                return True
            tried = [replace(c, tries=c.tries + 1) for c in codes]
            self._write([c for c in tried if c.tries < MAX_TRIES])
            return False

    def _write(self, codes: list[Outstanding]) -> None:
        document = {"version": _VERSION, "codes": [asdict(code) for code in codes]}
        self._state.write(FILE, json.dumps(document).encode())


def _alive(codes: list[Outstanding], now: float) -> list[Outstanding]:
    return [code for code in codes if code.expires > now]


def _read(state: StateFolder) -> list[Outstanding]:
    data = state.read(FILE)
    if data is None:
        return []
    try:
        document = parse_document(data)
        if not is_version(document["version"], _VERSION):
            raise StateUnusable(state.file(FILE), "another version wrote it; delete it")
        return [_outstanding(entry) for entry in document["codes"]]
    except (ValueError, KeyError, TypeError) as error:
        raise StateUnusable(state.file(FILE), "it is damaged; delete it") from error


def _outstanding(entry: object) -> Outstanding:
    match entry:
        case {
            "salt": str(salt),
            "digest": str(digest),
            "expires": float() | int() as expires,
            "tries": int(tries),
        } if digest.isascii():
            return Outstanding(salt, digest, expires, tries)
    raise ValueError


def _digest(salt: str, code: str) -> str:
    return hashlib.pbkdf2_hmac("sha256", code.encode(), salt.encode(), 20_000).hex()
