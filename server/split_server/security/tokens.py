"""Bearer tokens (RFC 6750) and the principals they belong to. Only hashes are kept."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hmac import compare_digest
from pathlib import Path

from split_files import open_regular
from split_server.errors import ServerError
from split_server.security.principal import ANONYMOUS, LOCAL, OWNER, Credential

MIN_TOKEN_LENGTH = 16
_MAX_FILE_BYTES = 1 << 20
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{16,512}")
_NAME = re.compile(r"[A-Za-z0-9._@-]{1,64}")
_SCHEME = "bearer"
# Marks the tokens of those who run the server, behind the token.
OPERATOR_MARK = "operator"


class BadTokens(ServerError):
    """A token or a tokens file that cannot be used. The message never holds a token."""

    code = "bad_tokens"


def make_token() -> str:
    """A fresh token with 192 bits of randomness."""
    return secrets.token_urlsafe(24)


def bearer_token(authorization: str) -> str | None:
    """The token of an Authorization header's value, None for another scheme."""
    scheme, _, token = authorization.partition(" ")
    return token.strip() if scheme.lower() == _SCHEME else None


class TokenBook:
    """``tokens``: principal by token; ``operators``: those of them that run the server."""

    def __init__(self, tokens: Mapping[str, str], operators: Collection[str] = ()) -> None:
        self._principals = {_hash(token): name for token, name in tokens.items()}
        self._operators = frozenset(map(_hash, operators))

    def identify(self, authorization: str | None) -> str | None:
        """The principal of an Authorization header's value, None when it holds no known token."""
        found = self.credential(authorization)
        return None if found is None else found.principal

    def credential(self, authorization: str | None) -> Credential | None:
        """As :meth:`identify`, with the digest of the token."""
        token = bearer_token(authorization or "")
        given = _hash(token or "")
        found = None
        # Every hash is compared, so the time does not depend on which one matches.
        for known, name in self._principals.items():
            if compare_digest(known, given):
                found = Credential(name, known, operator=known in self._operators)
        return None if token is None else found

    def holds(self, credential: Credential) -> bool:
        """Whether that token is still there and of that principal."""
        return self._principals.get(credential.token) == credential.principal

    def has(self, principal: str) -> bool:
        """Whether any token is that principal's."""
        return principal in self._principals.values()

    @property
    def readable(self) -> bool:
        """Whether it is known who has a token; where it is not, nobody is let in."""
        return True

    def refresh(self) -> None:
        """Look whether the tokens have changed; those of a plain book never do."""

    def take(self, other: TokenBook) -> None:
        """Hold the tokens of ``other`` in place of these."""
        self._principals, self._operators = other._principals, other._operators


def single_token(token: str) -> TokenBook:
    """One token for the owner of the server. Raises BadTokens."""
    _check_token(token, "the token")
    return TokenBook({token: OWNER}, [token])


def read_tokens(path: Path, *, waiting: bool = True) -> TokenBook:
    """Read ``name token`` lines; blank lines and lines that start with # are skipped.

    Several tokens may belong to one name; ``operator`` behind a token marks it. ``waiting``:
    whoever writes into a pipe is waited for; otherwise a pipe is refused. Raises BadTokens.
    """
    entries = _entries(path, waiting)
    names = {token: entry.name for token, entry in entries.items()}
    return TokenBook(names, [token for token, entry in entries.items() if entry.operator])


def token_in(path: Path, name: str | None) -> str:
    """The first token of ``name`` in the file, without a name that of the only one there is.

    Raises BadTokens.
    """
    tokens = _entries(path.expanduser(), waiting=False)
    names = sorted({entry.name for entry in tokens.values()})
    if name is None and len(names) > 1:
        raise BadTokens(f"{path.name} holds tokens of {len(names)} names; say whose with --name")
    wanted = names[0] if name is None else name
    for token, entry in tokens.items():
        if entry.name == wanted:
            return token
    raise BadTokens(f"{path.name} holds no token of {wanted!r}")


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    operator: bool


def _entries(path: Path, waiting: bool) -> dict[str, _Entry]:
    """By token."""
    tokens: dict[str, _Entry] = {}
    for number, line in enumerate(_lines(path, waiting), start=1):
        fields = line.split()
        if not fields or fields[0].startswith("#"):
            continue
        token, entry = _entry(fields, f"{path.name}, line {number}")
        if token in tokens:
            raise BadTokens(f"{path.name}, line {number}: this token is there twice")
        tokens[token] = entry
    if not tokens:
        raise BadTokens(f"{path.name} holds no token; write lines of 'name token'")
    return tokens


def _lines(path: Path, waiting: bool) -> list[str]:
    try:
        with path.open("rb") if waiting else open_regular(path) as file:
            data = file.read(_MAX_FILE_BYTES + 1)
    except OSError as error:
        raise BadTokens(f"cannot read the tokens file {path}: {error.strerror}") from error
    if len(data) > _MAX_FILE_BYTES:
        raise BadTokens(f"{path.name} is larger than 1 MB")
    try:
        return data.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise BadTokens(f"{path.name} is not text") from error


def _entry(fields: list[str], where: str) -> tuple[str, _Entry]:
    """Its token, and what it says of that."""
    if not 2 <= len(fields) <= 3:
        raise BadTokens(f"{where}: write 'name token', or 'name token {OPERATOR_MARK}'")
    name, token = fields[:2]
    if fields[2:] not in ([], [OPERATOR_MARK]):
        raise BadTokens(f"{where}: behind a token may stand '{OPERATOR_MARK}' and nothing else")
    if not _NAME.fullmatch(name) or name in (LOCAL, ANONYMOUS):
        raise BadTokens(
            f"{where}: a name is 1 to 64 letters, digits or ._@- and not a reserved one"
        )
    _check_token(token, f"{where}: the token")
    return token, _Entry(name, len(fields) > 2)


def _check_token(token: str, what: str) -> None:
    if not _TOKEN.fullmatch(token):
        raise BadTokens(
            f"{what} must have {MIN_TOKEN_LENGTH} to 512 letters, digits or ._~+/=- ; "
            "leave it out and the server makes one"
        )


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
