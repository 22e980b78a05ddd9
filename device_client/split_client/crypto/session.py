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
    AdapterHostRefused,
    AdapterOutOfRange,
    EncryptionUnavailable,
)
from split_client.crypto.link import HostLink
from split_client.crypto.masks import Masks, MaskTally
from split_he.device import decrypt, encrypt_numbers, rounded
from split_he.errors import HeError, HeUnavailable, InputOutOfRange, MalformedCiphertext
from split_he.keys import DeviceKeys
from split_he.layout import Packing
from split_he.modular import Integers
from split_he.params import SEED_BYTES
from split_he.wire import reply_bytes
from split_masks.device import Hiding, Mask
from split_masks.errors import MalformedNumbers
from split_masks.numbers import numbers_bytes
from split_masks.ranges import RANGE_BYTES

_SESSION_BYTES = 16
_OPENED_BYTES = 4096
_MASK_REFUSED = frozenset({"mask_used", "mask_lost", "mask_foreign", "malformed_mask"})


class HostSession:
    """``plan``: the packing that the host stated for it. ``most_masks``: that it lets a device
    hold. ``masks``: those that are ready, under the keys of this session as queries are.
    """

    def __init__(
        self,
        link: HostLink,
        adapter: str,
        session: bytes,
        plan: Packing,
        keys: DeviceKeys,
        most_masks: int = 0,
        tally: MaskTally | None = None,
    ) -> None:
        self._link, self._adapter, self._id = link, adapter, session
        self.plan, self._keys = plan, keys
        self.most_masks, self.masks = most_masks, Masks(tally)
        self._number = self._ranges = 0

    @classmethod
    def open(
        cls,
        link: HostLink,
        adapter: AdapterInfo,
        entropy: Callable[[int], bytes] = os.urandom,
        *,
        agreed: Packing | None = None,
        tally: MaskTally | None = None,
    ) -> HostSession:
        """Agree on nonces, make keys, send the public one. ``agreed``: the only packing to accept;
        ``tally``: where its states are counted.

        Raises EncryptionUnavailable, AdapterHostInvalid and what asking raises.
        """
        answer = link.ask("POST", f"/{adapter.name}/session", _OPENED_BYTES)
        session, host_nonce, plan, most_masks = _opened(answer, adapter)
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
        return cls(link, adapter.name, session, plan, keys, most_masks, tally)

    def product(self, hidden: NDArray[np.float32]) -> NDArray[np.float64]:
        """A h [r] of hidden state h [H], which the host does not see: under a mask where one is
        ready, else encrypted.

        Raises AdapterOutOfRange, AdapterHostInvalid and what asking raises.
        """
        try:
            state = rounded(hidden, self.plan)
        except InputOutOfRange as error:
            raise AdapterOutOfRange(str(error)) from error
        mask = self.masks.take()
        if mask is not None:
            try:
                return self._masked(mask, state)
            except AdapterHostRefused as refused:
                if refused.refusal not in _MASK_REFUSED:
                    raise
                # The host has none of this session's, or says so.
                self.masks.clear()
        return self._encrypted(state)

    def reserve(self, link: HostLink, count: int) -> bytes:
        """A range of numbers for up to ``count`` masks, as it travels. Raises what asking raises.

        Sent again where the answer was lost, it is the same range.
        """
        asked = (self._ranges + 1).to_bytes(2, "little") + count.to_bytes(2, "little")
        given = link.ask("POST", f"/{self._adapter}/reserve", RANGE_BYTES, self._id + asked)
        self._ranges += 1
        return given

    def make_mask(self, link: HostLink, number: int) -> None:
        """One more mask, of a number of the last range. Raises as :meth:`product`."""
        hiding = Hiding.draw(self._keys, self.plan)
        reply = self._asked(link, "mask", number, hiding.query, reply_bytes(self.plan))
        try:
            self.masks.keep(hiding.mask(number, reply, self._keys, self.plan))
        except MalformedCiphertext as error:
            raise AdapterHostInvalid(str(error)) from error

    def _masked(self, mask: Mask, state: Integers) -> NDArray[np.float64]:
        size = numbers_bytes(self.plan.rank)
        answer = self._asked(self._link, "masked", mask.number, mask.masked(state), size)
        try:
            product = mask.product(answer)
        except MalformedNumbers as error:
            raise AdapterHostInvalid(str(error)) from error
        self.masks.tally.used += 1
        return product

    def _encrypted(self, state: Integers) -> NDArray[np.float64]:
        query = encrypt_numbers(state, self._keys, self.plan)
        self._number += 1
        size = reply_bytes(self.plan)
        reply = self._asked(self._link, "evaluate", self._number, query, size)
        try:
            product = decrypt(reply, self._keys, self.plan)
        except MalformedCiphertext as error:
            raise AdapterHostInvalid(str(error)) from error
        self.masks.tally.encrypted += 1
        return product

    def _asked(self, link: HostLink, what: str, number: int, data: bytes, size: int) -> bytes:
        body = self._id + number.to_bytes(8, "little") + data
        return link.ask("POST", f"/{self._adapter}/{what}", size, body)

    def carry(self, link: HostLink) -> None:
        """Ask over ``link`` from now on; the session was opened over another connection."""
        self._link = link

    def ending(self) -> Callable[[HostLink], None]:
        """What tells the host over a link that nothing more comes; it holds no keys."""
        path, named = f"/{self._adapter}/end", self._id
        return lambda link: _told(link, path, named)


def _told(link: HostLink, path: str, named: bytes) -> None:
    link.ask("POST", path, 0, named)


def _opened(answer: bytes, adapter: AdapterInfo) -> tuple[bytes, bytes, Packing, int]:
    """Session id, host nonce, packing and most masks of a ``session`` answer, distrusted."""
    match _unpacked(answer):
        case {
            "session": bytes(session),
            "host_nonce": bytes(nonce),
            "packing": dict(document),
            **others,
        } if len(session) == _SESSION_BYTES and len(nonce) == SEED_BYTES:
            return session, nonce, _packing(document, adapter), _most_masks(others)
    raise AdapterHostInvalid("it is not the beginning of a session")


def _most_masks(fields: Mapping[object, object]) -> int:
    """0 where the host says nothing of masks, as older ones do."""
    most = fields.get("masks")
    return most if type(most) is int and most > 0 else 0


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
