"""The routing id: ``s`` in the URL of a session's frames (docs/protocol.md, Routing).

It means nothing, is derived from nothing, and is no credential: whoever knows one can have his own
connections brought to the same machine.
"""

from __future__ import annotations

import re
import secrets
from typing import TypeGuard

_BYTES = 16
# 16 bytes in base64url without padding: of the last letter two bits count.
_ID = re.compile(r"[A-Za-z0-9_-]{21}[AQgw]")


def new_id() -> str:
    """Another one."""
    return secrets.token_urlsafe(_BYTES)


def is_id(text: object) -> TypeGuard[str]:
    """Whether ``text`` is what :func:`new_id` makes; it goes into a URL as it is."""
    return isinstance(text, str) and _ID.fullmatch(text) is not None
