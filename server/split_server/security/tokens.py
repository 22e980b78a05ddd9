"""Bearer tokens (RFC 6750) and the principals they belong to. Only hashes are kept."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping
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
    """``tokens``: principal by token."""

    def __init__(self, tokens: Mapping[str, str]) -> None:
        self._principals = {_hash(token): name for token, name in tokens.items()}

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
                found = Credential(name, known)
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
        self._principals = other._principals


def single_token(token: str) -> TokenBook:
    """One token for the owner of the server. Raises BadTokens."""
    _check_token(token, "the token")
    return TokenBook({token: OWNER})


def read_tokens(path: Path, *, waiting: bool = True) -> TokenBook:
    """Read ``name token`` lines; blank lines and lines that start with # are skipped.

    Several tokens may belong to one name. ``waiting``: whoever writes into a pipe is waited for;
    otherwise a pipe is refused. Raises BadTokens.
    """
    return TokenBook(_named(path, waiting))


def token_in(path: Path, name: str | None) -> str:
    """The first token of ``name`` in the file, without a name that of the only one there is.

    Raises BadTokens.
    """
    tokens = _named(path.expanduser(), waiting=False)
    names = sorted(set(tokens.values()))
    if name is None and len(names) > 1:
        raise BadTokens(f"{path.name} holds tokens of {len(names)} names; say whose with --name")
    wanted = names[0] if name is None else name
    for token, owner in tokens.items():
        if owner == wanted:
            return token
    raise BadTokens(f"{path.name} holds no token of {wanted!r}")


def _named(path: Path, waiting: bool) -> dict[str, str]:
    """Names by token."""
    tokens: dict[str, str] = {}
    for number, line in enumerate(_lines(path, waiting), start=1):
        fields = line.split()
        if not fields or fields[0].startswith("#"):
            continue
        name, token = _entry(fields, f"{path.name}, line {number}")
        if token in tokens:
            raise BadTokens(f"{path.name}, line {number}: this token is there twice")
        tokens[token] = name
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


def _entry(fields: list[str], where: str) -> tuple[str, str]:
    if len(fields) != 2:
        raise BadTokens(f"{where}: write 'name token'")
    name, token = fields
    if not _NAME.fullmatch(name) or name in (LOCAL, ANONYMOUS):
        raise BadTokens(
            f"{where}: a name is 1 to 64 letters, digits or ._@- and not a reserved one"
        )
    _check_token(token, f"{where}: the token")
    return name, token


def _check_token(token: str, what: str) -> None:
    if not _TOKEN.fullmatch(token):
        raise BadTokens(
            f"{what} must have {MIN_TOKEN_LENGTH} to 512 letters, digits or ._~+/=- ; "
            "leave it out and the server makes one"
        )


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
