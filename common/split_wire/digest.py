"""The chained digest of the rows a session has cached.

``d[0] = blake2b(manifest digest)``, ``d[i+1] = blake2b(d[i] | dtype | row bytes | scale bytes)``,
16 bytes each (BLAKE2b, RFC 7693, personalised). Both ends keep ``d[0..n]``, so either can name any
prefix of the cache. The dtype names are prefix-free, hence no two rows hash the same input.
"""

from __future__ import annotations

from hashlib import blake2b

from split_wire.tensor import Tensor, item_size

DIGEST_BYTES = 16
_PERSON = b"split.v1 prefix"


class PrefixChain:
    """Digests of every prefix of the cached rows; ``len(chain)`` counts the cached positions.

    They lie one after the other: an object for each would take four times their bytes.
    """

    def __init__(self, manifest: str) -> None:
        seed = blake2b(manifest.encode(), digest_size=DIGEST_BYTES, person=_PERSON).digest()
        self._digests = bytearray(seed)

    def __len__(self) -> int:
        return len(self._digests) // DIGEST_BYTES - 1

    @property
    def size(self) -> int:
        """Bytes of the digests of the cached positions."""
        return DIGEST_BYTES * len(self)

    def at(self, position: int) -> bytes:
        """The digest of the first ``position`` rows. Raises IndexError for more than there are."""
        if not 0 <= position <= len(self):
            raise IndexError(position)
        return bytes(self._digests[DIGEST_BYTES * position : DIGEST_BYTES * (position + 1)])

    def after(self, start: int) -> bytes:
        """A copy of the digests of the positions behind ``start``, 16 bytes each."""
        return bytes(self._digests[DIGEST_BYTES * (start + 1) :])

    def following(self, start: int, rows: Tensor) -> list[bytes]:
        """The digests after each of ``rows`` appended at ``start``; changes nothing."""
        return linked(self.at(start), rows)

    def replace(self, start: int, digests: list[bytes]) -> None:
        """Keep ``start`` positions and append ``digests``."""
        self._digests[DIGEST_BYTES * (start + 1) :] = b"".join(digests)

    def truncate(self, start: int) -> None:
        """Keep ``start`` positions."""
        self.replace(start, [])


def linked(digest: bytes, rows: Tensor) -> list[bytes]:
    """The digests after each of ``rows`` behind the prefix that ``digest`` names."""
    width = rows.width * item_size(rows.dtype)
    values, scales, tag = memoryview(rows.data), memoryview(rows.scales), rows.dtype.encode()
    digests = []
    for row in range(rows.rows):
        link = blake2b(digest + tag, digest_size=DIGEST_BYTES, person=_PERSON)
        link.update(values[row * width : (row + 1) * width])
        link.update(scales[4 * row : 4 * row + 4])
        digest = link.digest()
        digests.append(digest)
    return digests
