"""tenseal's ckks_vector.mm: the diagonal method with rotations, what its tutorials use."""

from __future__ import annotations

from typing import Any

import numpy as np

from scripts.bench.he.inputs import Measured, Problem, Progress

NAME = "ckks_vector.mm"
SET_UP = ("set up",)
DEVICE = ("encrypt", "decrypt")
HOST = "host, all in"
DEGREE, BITS, SCALE = 4096, [38, 30, 38], 2.0**30
"""The smallest with 128 bits that answer rightly: the middle prime has to match the scale."""
SLOTS = DEGREE // 2
ERROR_BOUND = 1e-2


def runs(problem: Problem) -> bool:
    """Whether a hidden state fits the slots of one ciphertext."""
    return problem.h.size <= SLOTS


def measure(problem: Problem, rounds: int, progress: Progress) -> Measured:
    """Check the answer, then time ``rounds`` tokens; the host reads and writes bytes."""
    import tenseal

    measured = Measured()
    context, public = measured.lap("set up", _contexts)
    host = tenseal.context_from(public, n_threads=1)
    measured.sizes["key"] = len(public)
    matrix = problem.a.T.tolist()
    for _ in range(rounds):
        query = measured.lap("encrypt", lambda: _encrypt(context, problem))
        reply = measured.lap(HOST, lambda data=query: _multiply(host, data, matrix))
        found = measured.lap("decrypt", lambda data=reply: _decrypt(context, data))
        measured.require(problem.error(found), ERROR_BOUND, NAME)
        measured.sizes.update(up=len(query), down=len(reply))
        progress.step(NAME)
    return measured


def _contexts() -> tuple[Any, bytes]:
    """The device's context with its secret key, and the bytes of the one without."""
    import tenseal

    context = tenseal.context(
        tenseal.SCHEME_TYPE.CKKS, DEGREE, coeff_mod_bit_sizes=BITS, n_threads=1
    )
    context.global_scale = SCALE
    context.generate_galois_keys()
    return context, context.serialize(save_secret_key=False)


def _encrypt(context: Any, problem: Problem) -> bytes:
    import tenseal

    data: bytes = tenseal.ckks_vector(context, problem.h.tolist()).serialize()
    return data


def _multiply(host: Any, query: bytes, matrix: list[list[float]]) -> bytes:
    import tenseal

    data: bytes = tenseal.ckks_vector_from(host, query).mm(matrix).serialize()
    return data


def _decrypt(context: Any, reply: bytes) -> np.ndarray:
    import tenseal

    return np.array(tenseal.ckks_vector_from(context, reply).decrypt())
