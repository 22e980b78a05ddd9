"""A session with an adapter host, for one reply: keys made for it alone, and numbered queries.

The secret key never leaves the object that holds it. The uniform half of the public key follows
from a nonce of the host and one of the device, so that neither side chooses it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import msgpack
import numpy as np
from numpy.typing import NDArray

from split_client.adapters.choice import AdapterInfo
from split_client.crypto.errors import (
    AdapterHostInvalid,
    AdapterOutOfRange,
    EncryptionUnavailable,
)
from split_client.crypto.link import HostLink
from split_he.device import decrypt, encrypt
from split_he.errors import HeError, HeUnavailable, InputOutOfRange, MalformedCiphertext
from split_he.keys import DeviceKeys
from split_he.layout import Packing
from split_he.params import SEED_BYTES
from split_he.wire import reply_bytes

_SESSION_BYTES = 16
_OPENED_BYTES = 4096


class HostSession:
    """``plan``: the packing that the host stated for it."""

    def __init__(
        self, link: HostLink, adapter: str, session: bytes, plan: Packing, keys: DeviceKeys
    ) -> None:
        self._link, self._adapter, self._id = link, adapter, session
        self.plan, self._keys = plan, keys
        self._number = 0

    @classmethod
    def open(
        cls,
        link: HostLink,
        adapter: AdapterInfo,
        entropy: Callable[[int], bytes] = os.urandom,
        *,
        agreed: Packing | None = None,
    ) -> HostSession:
        """Agree on nonces, make keys, send the public one. ``agreed``: the only packing to accept.

        Raises EncryptionUnavailable, AdapterHostInvalid and what asking raises.
        """
        answer = link.ask("POST", f"/{adapter.name}/session", _OPENED_BYTES)
        session, host_nonce, plan = _opened(answer, adapter)
        if agreed not in (None, plan):
            raise AdapterHostInvalid(
                "it states another packing for this adapter than before; if its operator changed "
                "the adapter or --activation-rms, start this client again"
            )
        nonce = entropy(SEED_BYTES)
        try:
            keys = DeviceKeys.generate(host_nonce, nonce)
        except HeUnavailable as error:
            raise EncryptionUnavailable(str(error)) from error
        link.ask("POST", f"/{adapter.name}/key", 0, session + nonce + keys.public)
        return cls(link, adapter.name, session, plan, keys)

    def product(self, hidden: NDArray[np.float32]) -> NDArray[np.float64]:
        """A h [r] of hidden state h [H], which the host does not see.

        Raises AdapterOutOfRange, AdapterHostInvalid and what asking raises.
        """
        try:
            query = encrypt(hidden, self._keys, self.plan)
        except InputOutOfRange as error:
            raise AdapterOutOfRange(str(error)) from error
        self._number += 1
        body = self._id + self._number.to_bytes(8, "little") + query
        reply = self._link.ask("POST", f"/{self._adapter}/evaluate", reply_bytes(self.plan), body)
        try:
            return decrypt(reply, self._keys, self.plan)
        except MalformedCiphertext as error:
            raise AdapterHostInvalid(str(error)) from error

    def carry(self, link: HostLink) -> None:
        """Ask over ``link`` from now on; the session was opened over another connection."""
        self._link = link

    def ending(self) -> Callable[[HostLink], None]:
        """What tells the host over a link that nothing more comes; it holds no keys."""
        path, named = f"/{self._adapter}/end", self._id
        return lambda link: _told(link, path, named)


def _told(link: HostLink, path: str, named: bytes) -> None:
    link.ask("POST", path, 0, named)


def _opened(answer: bytes, adapter: AdapterInfo) -> tuple[bytes, bytes, Packing]:
    """Session id, host nonce and packing of a ``session`` answer, distrusted."""
    match _unpacked(answer):
        case {"session": bytes(session), "host_nonce": bytes(nonce), "packing": dict(document)}:
            if len(session) == _SESSION_BYTES and len(nonce) == SEED_BYTES:
                return session, nonce, _packing(document, adapter)
    raise AdapterHostInvalid("it is not the beginning of a session")


def _unpacked(answer: bytes) -> object:
    try:
        fields: object = msgpack.unpackb(answer, strict_map_key=True)
    except (ValueError, msgpack.UnpackException) as error:
        raise AdapterHostInvalid("it is not msgpack") from error
    return fields


def _packing(document: Mapping[str, Any], adapter: AdapterInfo) -> Packing:
    try:
        plan = Packing.parse(document)
    except HeError as error:
        raise AdapterHostInvalid(str(error)) from error
    if (plan.hidden, plan.rank) != (adapter.hidden_size, adapter.rank):
        raise AdapterHostInvalid("its packing is for another shape than its list says")
    return plan
