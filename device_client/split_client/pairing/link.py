"""The link that ``split-server pair`` shows: ``https://HOST:PORT/pair#CODE.FINGERPRINT``."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass

from split_client.pairing.errors import LinkInvalid
from split_client.transport.endpoint import Endpoint

_CODE = re.compile(r"[0-9A-Za-z-]{8,12}")
_FINGERPRINT_BYTES = 32
_PAGE = "/pair"


@dataclass(frozen=True, slots=True)
class PairingLink:
    """``fingerprint``: SHA-256 of the authority's certificate, None where the link has none."""

    endpoint: Endpoint
    code: str
    fingerprint: bytes | None

    @classmethod
    def parse(cls, text: str, code: str | None = None) -> PairingLink:
        """Read a link, or an address with a ``code`` that was typed.

        Raises LinkInvalid, UrlInvalid.
        """
        address, _, secret = text.strip().partition("#")
        in_link, _, mark = secret.partition(".")
        given = code or in_link
        if not _CODE.fullmatch(given):
            raise LinkInvalid
        endpoint = Endpoint.parse(address.rstrip("/").removesuffix(_PAGE))
        return cls(endpoint, given, _fingerprint(mark) if mark else None)


def _fingerprint(text: str) -> bytes:
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        raise LinkInvalid from None
    if len(data) != _FINGERPRINT_BYTES:
        raise LinkInvalid
    return data
