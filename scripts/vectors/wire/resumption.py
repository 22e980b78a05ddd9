"""Sessions that begin with rows which the server holds already, frame by frame."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scripts.vectors.wire.messages import MANIFEST, SESSION
from split_wire.client import ClientProtocol
from split_wire.codec import encode_message
from split_wire.digest import PrefixChain
from split_wire.messages import Opened, Restored, Result
from split_wire.tensor import Tensor, WireDtype

WIDTH = 3
DTYPE: WireDtype = "bf16"
SALT = "the salt of a browser"
_ANNOUNCED = ("attention", "restore")


def resumption() -> dict[str, Any]:
    """``acts`` in the order in which the device is asked for them."""
    talk = _Talk()
    talk.open("first", held=32)
    talk.step("first", 32)
    talk.restore("edited", 20, held=48)
    talk.step("edited", 48)
    # Names of other rows, more than was asked for, and less than is held for certain.
    other = _chain(_ROWS["other"])
    talk.restore("longer", 64, held=80, name=other.at(80))
    talk.restore("longer", 64, held=120, name=_chain(_ROWS["longer"]).at(104))
    talk.restore("longer", 64, held=48)
    talk.restore("longer", 64, held=104)
    talk.open("longer", held=96, name=other.at(96))
    return {
        "hidden_size": WIDTH,
        "manifest": MANIFEST,
        "dtype": DTYPE,
        "cache_salt": SALT,
        "rows": {name: rows.astype("<f4").tobytes().hex() for name, rows in _ROWS.items()},
        "acts": talk.acts,
    }


class _Talk:
    """A device, and the answers that it gets."""

    def __init__(self) -> None:
        self._device = ClientProtocol(WIDTH, MANIFEST, DTYPE, SALT)
        self._steps = 0
        self.acts: list[dict[str, Any]] = []

    def open(self, of: str, held: int, name: bytes | None = None) -> None:
        """A session that begins with ``held`` rows ``of`` that name; the server says which."""
        self._steps = 0
        chain = _chain(_ROWS[of])
        said = name or chain.at(held)
        opened = Opened(SESSION, MANIFEST, DTYPE, 512, 4096, 1, _ANNOUNCED, 2, 2, held, said)
        self._note("open", of, 0, self._device.open(chain), encode_message(opened))

    def restore(self, of: str, start: int, held: int, name: bytes | None = None) -> None:
        """The open session is asked to hold more than ``start`` rows ``of`` that name."""
        chain = _chain(_ROWS[of])
        frame = self._device.restore(start, chain)
        answer = Restored(SESSION, start, len(chain), held, name or chain.at(min(held, len(chain))))
        self._note("restore", of, start, frame, encode_message(answer))

    def step(self, of: str, start: int) -> None:
        """The rows behind ``start`` are sent."""
        rows = _ROWS[of][start:]
        frame = self._device.step(start, rows)
        self._steps += 1
        hidden = Tensor.from_f32(rows[-1:] * np.float32(2), DTYPE)
        answer = encode_message(Result(SESSION, self._steps, start + len(rows), hidden))
        self._note("step", of, start, frame, answer)

    def _note(self, does: str, of: str, start: int, frame: bytes, answer: bytes) -> None:
        self._device.receive(answer)
        said = {"frame": frame.hex(), "answer": answer.hex(), "cached": self._device.cached}
        self.acts.append({"does": does, "rows": of, "start": start, **said})


def _chain(rows: NDArray[np.float32]) -> PrefixChain:
    chain = PrefixChain(MANIFEST)
    chain.replace(0, chain.following(0, Tensor.from_f32(rows, DTYPE)))
    return chain


def _rows(count: int, factor: int) -> NDArray[np.float32]:
    """Eighths that bfloat16 holds exactly, other ones for each odd ``factor``."""
    numbers = (np.arange(count * WIDTH) * factor) % 251 - 125
    return numbers.reshape(count, WIDTH).astype(np.float32) / np.float32(8)


_FIRST = _rows(40, 1)
_EDITED = np.concatenate([_FIRST[:20], _rows(44, 3)])
_LONGER = np.concatenate([_EDITED, _rows(40, 5)])
_ROWS = {"first": _FIRST, "edited": _EDITED, "longer": _LONGER, "other": _rows(104, 7)}
