"""Slot packing without rotations: the host multiplies slot by slot, the device adds the slots up.

No Galois keys, but each reply, once decrypted, is h times a row of A, slot by slot: the device
reads A off a single token.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from scripts.bench.he.inputs import Measured, Problem, Progress
from split_he.params import N, context, require_tenseal

NAME = "slots without rotations"
SET_UP = ("set up",)
DEVICE = ("encrypt", "decrypt")
HOST = "host, all in"
SLOTS = N // 2
INPUT_SCALE, WEIGHT_SCALE = 2.0**22, 2.0**22
ERROR_BOUND = 1e-2
MAX_REPLIES = 64
"""Ciphertexts that are still measured; each is a file of 31 kB on the way into and out of SEAL."""


def runs(problem: Problem) -> bool:
    """Whether the ciphertexts of a query are few enough to be worth timing."""
    return problem.h.size <= 4 * SLOTS and len(problem.a) <= MAX_REPLIES


def measure(problem: Problem, rounds: int, progress: Progress) -> Measured:
    """Check the answer, then time ``rounds`` tokens; the host reads and writes bytes."""
    measured = Measured()
    with tempfile.TemporaryDirectory() as name:
        side = measured.lap("set up", lambda: _Side(problem, Path(name)))
        measured.sizes["key"] = 0
        for _ in range(rounds):
            query = measured.lap("encrypt", side.encrypt)
            reply = measured.lap(HOST, lambda data=query: side.multiply(data))
            found = measured.lap("decrypt", lambda data=reply: side.decrypt(data))
            measured.require(problem.error(found), ERROR_BOUND, NAME)
            measured.sizes.update(up=sum(map(len, query)), down=sum(map(len, reply)))
            progress.step(NAME)
    return measured


class _Side:
    """Both sides: SEAL's objects, and a file through which they become bytes."""

    def __init__(self, problem: Problem, folder: Path) -> None:
        self._seal, self._context = require_tenseal(), context()
        self._file = folder / "bytes"
        self._problem = problem
        generator = self._seal.KeyGenerator(self._context)
        self._secret = generator.secret_key()
        self._encoder = self._seal.CKKSEncoder(self._context)
        self._evaluator = self._seal.Evaluator(self._context)
        self._encryptor = self._seal.Encryptor(self._context, self._secret)
        self._decryptor = self._seal.Decryptor(self._context, self._secret)
        rows = [_chunks(row) for row in problem.a]
        self._rows = [[self._encoded(c, WEIGHT_SCALE) for c in row] for row in rows]

    def encrypt(self) -> list[bytes]:
        """One seeded ciphertext per 1,024 numbers."""
        plain = [self._encoded(chunk, INPUT_SCALE) for chunk in _chunks(self._problem.h)]
        return [self._saved(self._encryptor.encrypt_symmetric(one)) for one in plain]

    def multiply(self, query: list[bytes]) -> list[bytes]:
        """One ciphertext per row of A, the chunks added up."""
        loaded = [self._loaded(data) for data in query]
        replies = []
        for row in self._rows:
            products = [self._product(c, p) for c, p in zip(loaded, row, strict=True)]
            for other in products[1:]:
                self._evaluator.add_inplace(products[0], other)
            replies.append(self._saved(products[0]))
        return replies

    def decrypt(self, reply: list[bytes]) -> np.ndarray:
        """The sum of the slots of each ciphertext."""
        found = []
        for data in reply:
            plain = self._seal.Plaintext()
            self._decryptor.decrypt(self._loaded(data), plain)
            found.append(float(np.sum(self._encoder.decode_double(plain))))
        return np.array(found)

    def _encoded(self, values: np.ndarray, scale: float) -> Any:
        plain = self._seal.Plaintext()
        self._encoder.encode(values.tolist(), scale, plain)
        return plain

    def _product(self, ciphertext: Any, plain: Any) -> Any:
        product = self._seal.Ciphertext()
        self._evaluator.multiply_plain(ciphertext, plain, product)
        return product

    def _saved(self, thing: Any) -> bytes:
        thing.save(str(self._file))
        return self._file.read_bytes()

    def _loaded(self, data: bytes) -> Any:
        self._file.write_bytes(data)
        ciphertext = self._seal.Ciphertext()
        ciphertext.load(self._context, str(self._file))
        return ciphertext


def _chunks(values: np.ndarray) -> list[np.ndarray]:
    return [values[start : start + SLOTS] for start in range(0, values.size, SLOTS)]
