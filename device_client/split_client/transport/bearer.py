"""The header that carries a token (RFC 6750)."""

from __future__ import annotations

from split_client.errors import TokenInvalid


def authorization(token: str | None) -> dict[str, str]:
    """The header for ``token``, none for an empty one. Raises TokenInvalid."""
    if not token:
        return {}
    if not all("!" <= character <= "~" for character in token):
        raise TokenInvalid
    return {"Authorization": f"Bearer {token}"}
