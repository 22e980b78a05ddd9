"""Coefficient packing (split_he), stage by stage."""

from __future__ import annotations

import os

from scripts.bench.he.inputs import Measured, Problem, Progress
from split_he import device, wire
from split_he.blinds import HostKey
from split_he.host import HostAdapter, parse
from split_he.keys import DeviceKeys
from split_he.modular import centre, residues
from split_he.params import PRIME_BITS, N, build_context

NAME = "coefficient packing"
SET_UP = ("context", "prepare the adapter", "make keys", "read the key", "first blind")
DEVICE = ("encrypt", "decrypt")
STAGES = ("load", "multiply", "save")
HOST = "host, all in"
REFILL = "make a blind"
ERROR_BOUND = 1e-4


def measure(problem: Problem, rounds: int, progress: Progress) -> Measured:
    """Check the answer, then time ``rounds`` tokens and a few set-ups."""
    measured = Measured()
    for _ in range(min(rounds, 7)):
        adapter, keys, key = _set_up(problem, measured)
    plan = adapter.packing
    query = device.encrypt(problem.h, keys, plan)
    reply = adapter.evaluate(query, key)
    found = device.decrypt(reply, keys, plan)
    measured.require(problem.error(found), ERROR_BOUND, NAME)
    sizes = {"up": len(query), "down": len(reply), "key": len(keys.public)}
    measured.sizes = {**sizes, "ciphertexts up": plan.chunks, "ciphertexts down": plan.groups}
    for _ in range(rounds):
        _token(problem, adapter, keys, key, measured)
        progress.step(NAME)
    return measured


def _set_up(problem: Problem, measured: Measured) -> tuple[HostAdapter, DeviceKeys, HostKey]:
    nonces = os.urandom(32), os.urandom(32)
    context, prepare, make, read, blind = SET_UP
    measured.lap(context, lambda: build_context(N, [PRIME_BITS]))
    adapter = measured.lap(prepare, lambda: HostAdapter.prepare(problem.a))
    keys = measured.lap(make, lambda: DeviceKeys.generate(*nonces))
    key = measured.lap(read, lambda: adapter.evaluator(keys.public, *nonces))
    measured.lap(blind, lambda: key.refill(1))
    return adapter, keys, key


def _token(
    problem: Problem, adapter: HostAdapter, keys: DeviceKeys, key: HostKey, measured: Measured
) -> None:
    """One token as it is, then its host stages once more, each on its own."""
    plan = adapter.packing
    query = measured.lap("encrypt", lambda: device.encrypt(problem.h, keys, plan))
    measured.lap(REFILL, lambda: key.refill(1))
    reply = measured.lap(HOST, lambda: adapter.evaluate(query, key))
    measured.lap("decrypt", lambda: device.decrypt(reply, keys, plan))
    key.refill(1)
    ciphertexts = measured.lap("load", lambda: parse(query, plan))
    blind = key.take()
    products = measured.lap("multiply", lambda: centre(adapter.multiply(ciphertexts) + blind))
    measured.lap("save", lambda: wire.pack_reply(residues(products)))
