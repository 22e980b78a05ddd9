"""Microsoft SEAL as an oracle: our residues as its objects, and its residues back."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import tenseal.sealapi as sealapi
from numpy.typing import NDArray

from split_he.params import N, context

_SAVED = 16
_ENTRY = struct.Struct("<HBBBBHQ")


def ciphertext(values: NDArray[np.uint64], folder: Path) -> Any:
    """A SEAL ciphertext of the polynomials [k, N], at scale 1."""
    head = _parms_id() + struct.pack("<?QQQdQ", True, len(values), N, 1, 1.0, 1)
    return _loaded(sealapi.Ciphertext(), head + _array(values), folder)


def plaintext(values: NDArray[np.uint64], folder: Path) -> Any:
    """A SEAL plaintext [N], at scale 1."""
    head = _parms_id() + struct.pack("<Qd", N, 1.0)
    return _loaded(sealapi.Plaintext(), head + _array(values), folder)


def secret_key(values: NDArray[np.uint64], folder: Path) -> Any:
    """A SEAL secret key with these values at the roots."""
    key, file = sealapi.SecretKey(), folder / "secret"
    head = _parms_id() + struct.pack("<Qd", N, 1.0)
    body = head + _array(values)
    file.write_bytes(_header(len(body)) + body)
    key.load(context(), str(file))
    return key


def public_key(values: NDArray[np.uint64], folder: Path) -> Any:
    """A SEAL public key of the halves [2, N]."""
    key, file = sealapi.PublicKey(), folder / "public"
    body = _parms_id() + struct.pack("<?QQQdQ", True, 2, N, 1, 1.0, 1) + _array(values)
    file.write_bytes(_header(len(body)) + body)
    key.load(context(), str(file))
    return key


def read(thing: Any) -> NDArray[np.uint64]:
    """All residues of a SEAL ciphertext or plaintext, flat."""
    array = thing.dyn_array()
    return np.fromiter(map(array.at, range(array.size())), dtype=np.uint64, count=array.size())


def decrypt(thing: Any, secret: Any) -> NDArray[np.uint64]:
    """What SEAL's decryptor gives, [N] values at the roots."""
    plain = sealapi.Plaintext()
    sealapi.Decryptor(context(), secret).decrypt(thing, plain)
    return read(plain)


def _parms_id() -> bytes:
    return struct.pack("<4Q", *context().first_parms_id())


def _array(values: NDArray[np.uint64]) -> bytes:
    data = struct.pack("<Q", values.size) + values.astype("<u8").tobytes()
    return _header(len(data)) + data


def _header(size: int) -> bytes:
    return _ENTRY.pack(0xA15E, _SAVED, 4, 3, 0, 0, _SAVED + size)


def _loaded(thing: Any, body: bytes, folder: Path) -> Any:
    file = folder / "thing"
    file.write_bytes(_header(len(body)) + body)
    thing.load(context(), str(file))
    return thing
