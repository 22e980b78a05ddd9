"""The invitation that a person sees who pairs a device: link, QR code, code, fingerprint."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from split_settings.qr_code import qr_code


@dataclass(frozen=True, slots=True)
class Invitation:
    """``fingerprint``: SHA-256 of the authority's certificate, None with another certificate;
    ``doubt``: why a device may refuse the server at ``url``, empty where nothing says so.
    """

    url: str
    code: str
    fingerprint: bytes | None
    doubt: str = ""

    @property
    def link(self) -> str:
        """Browsers do not send what stands behind the #; it is for the device alone."""
        mark = "" if self.fingerprint is None else f".{_base64url(self.fingerprint)}"
        return f"{self.url}/pair#{self.code.replace('-', '')}{mark}"

    def lines(self, minutes: float) -> list[str]:
        """For a terminal."""
        shown = [
            qr_code(self.link),
            "",
            f"scan it, or in a terminal:  split-client pair '{self.link}'",
            f"code {self.code}, for one device, for {minutes:g} minutes",
        ]
        if self.fingerprint is not None:
            shown.append(f"certificate authority {grouped(self.fingerprint)}")
        return [*shown, self.doubt] if self.doubt else shown


def grouped(fingerprint: bytes) -> str:
    """The first 16 bytes in groups, as people compare them."""
    text = fingerprint[:16].hex()
    return " ".join(text[start : start + 4] for start in range(0, len(text), 4))


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
