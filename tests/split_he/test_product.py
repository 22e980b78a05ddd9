"""A h by way of ciphertexts equals float64, within the stated bounds, and SEAL agrees."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
import tenseal.sealapi as sealapi
from safetensors.numpy import load

from split_he import device, scales, wire
from split_he.errors import AdapterOutOfRange, InputOutOfRange, UnsupportedShape
from split_he.host import HostAdapter, parse
from split_he.layout import packing
from split_he.modular import residues
from split_he.params import N, Q, context
from split_he.transform import inverse
from tests.split_he import seal
from tests.split_he.sessions import matrix, session, state

SHAPES = [
    (1, 1), (1, 64), (2, 3), (192, 16), (256, 8), (255, 9), (896, 16), (1536, 32), (2047, 5),
    (2048, 64), (2049, 1), (4096, 32), (5000, 7), (8192, 1), (8192, 64),
]  # fmt: skip


@pytest.mark.parametrize(("hidden", "rank"), SHAPES)
def test_products_equal_float64_within_the_bounds(hidden: int, rank: int) -> None:
    side, h = session(matrix(hidden, rank)), state(hidden)
    a, exact = side.a.astype(np.float64), h.astype(np.float64)
    query = device.encrypt(h, side.keys, side.plan)
    reply = side.adapter.evaluate(query, side.host_key)
    assert len(query) == wire.query_bytes(side.plan)
    assert len(reply) == wire.reply_bytes(side.plan)
    error = device.decrypt(reply, side.keys, side.plan) - a @ exact
    assert (np.abs(error) < scales.worst_error(a, side.plan)).all()
    expected = scales.typical_error(a, side.plan, float(np.linalg.norm(exact)))
    assert (np.abs(error) < 8 * expected).all()
    if min(hidden, rank) > 1:
        assert np.linalg.norm(error) < 1e-4 * np.linalg.norm(a @ exact)


def test_the_embedded_banking_adapter_is_multiplied_exactly_enough() -> None:
    path = resources.files("split_server.embedded") / "adapters/banking/adapter.safetensors"
    a = load(path.read_bytes())["A"]
    side = session(a)
    for seed in range(5):
        h = state(a.shape[1], seed, rms=1.7)
        expected = a.astype(np.float64) @ h.astype(np.float64)
        assert np.linalg.norm(side.ask(h) - expected) < 2e-5 * np.linalg.norm(expected)


def test_the_bytes_of_the_bars_are_kept() -> None:
    side = session(matrix(1536, 32))
    assert wire.query_bytes(side.plan) <= 95_000
    assert wire.reply_bytes(side.plan) <= 125_000
    assert len(side.keys.public) == wire.KEY_BYTES <= 32_000


def test_the_error_is_as_large_as_the_formula_says() -> None:
    side = session(matrix(600, 24))
    a = side.a.astype(np.float64)
    ratios = []
    for seed in range(12):
        h = state(600, seed)
        spread = scales.typical_error(a, side.plan, float(np.linalg.norm(h)))
        ratios.append((side.ask(h) - a @ h.astype(np.float64)) / spread)
    assert 0.7 < np.std(ratios) < 1.4


def test_a_hidden_state_at_the_bound_along_the_longest_row_does_not_wrap() -> None:
    side = session(matrix(192, 16))
    a = side.a.astype(np.float64)
    row = a[np.linalg.norm(a, axis=1).argmax()]
    h = (row / np.linalg.norm(row) * side.plan.norm_bound * (1 - 1e-6)).astype(np.float32)
    assert np.allclose(side.ask(h), a @ h.astype(np.float64), rtol=1e-4, atol=1e-3)
    assert side.plan.scale * np.abs(a @ h).max() > 0.9 * Q / 2


@pytest.mark.parametrize("factor", [1e-6, 1.0, 3000.0])
def test_scales_follow_the_size_of_the_adapter(factor: float) -> None:
    side, h = session(matrix(192, 16) * np.float32(factor)), state(192)
    expected = side.a.astype(np.float64) @ h
    assert np.linalg.norm(side.ask(h) - expected) < 1e-4 * np.linalg.norm(expected)


def test_an_adapter_of_zeros_gives_zeros() -> None:
    assert np.abs(session(np.zeros((4, 64), np.float32)).ask(state(64))).max() < 1e-6


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e6])
def test_hidden_states_outside_the_promise_are_refused(bad: float) -> None:
    side, h = session(matrix(64, 4)), state(64)
    h[3] = bad
    with pytest.raises(InputOutOfRange):
        device.encrypt(h, side.keys, side.plan)


def test_arrays_of_other_shapes_are_refused() -> None:
    side = session(matrix(64, 4))
    with pytest.raises(UnsupportedShape):
        device.encrypt(state(65), side.keys, side.plan)
    with pytest.raises(UnsupportedShape):
        HostAdapter.prepare(state(64))
    with pytest.raises(UnsupportedShape):
        HostAdapter.prepare(matrix(64, 4), plan=packing(64, 5))
    other = session(matrix(64, 5)).adapter
    with pytest.raises(UnsupportedShape):
        other.evaluate(device.encrypt(state(64), side.keys, side.plan), side.host_key)


def test_scales_under_which_a_result_could_wrap_are_refused() -> None:
    plan = packing(64, 4, 2.0**30, 2.0**30, 64.0)
    with pytest.raises(AdapterOutOfRange, match="modulus"):
        HostAdapter.prepare(matrix(64, 4) * 100, plan=plan)
    with pytest.raises(AdapterOutOfRange, match="finite"):
        HostAdapter.prepare(np.full((4, 64), np.nan, np.float32))
    with pytest.raises(AdapterOutOfRange):
        HostAdapter.prepare(matrix(64, 4), norm_bound=1e30)


def test_the_default_scales_serve_as_well() -> None:
    a, h = matrix(192, 16), state(192)
    adapter = HostAdapter.prepare(a, plan=packing(192, 16, norm_bound=100.0))
    side = session(a)
    key = adapter.evaluator(side.keys.public, side.host_nonce, side.device_nonce)
    query = device.encrypt(h, side.keys, adapter.packing)
    found = device.decrypt(adapter.evaluate(query, key), side.keys, adapter.packing)
    assert np.linalg.norm(found - a @ h) < 2e-4 * np.linalg.norm(a @ h)


def test_two_encryptions_of_one_hidden_state_differ_everywhere() -> None:
    side, h = session(matrix(256, 8)), state(256)
    one, two = (device.encrypt(h, side.keys, side.plan) for _ in range(2))
    same = sum(a == b for a, b in zip(one[8:], two[8:], strict=True))
    assert same < len(one) * 0.02
    replies = [side.adapter.evaluate(one, side.host_key) for _ in range(2)]
    assert replies[0] != replies[1]


def test_seal_decrypts_our_queries_and_evaluates_them_alike(tmp_path: Path) -> None:
    side, h = session(matrix(300, 5)), state(300)
    secret = seal.secret_key(residues(side.keys.times_secret(np.ones(N, np.int64))), tmp_path)
    ciphertexts = parse(device.encrypt(h, side.keys, side.plan), side.plan)
    theirs = [seal.ciphertext(residues(c), tmp_path) for c in ciphertexts]
    message = inverse(seal.decrypt(theirs[0], secret).view(np.int64))[: side.plan.chunk]
    wanted = np.rint(h[: side.plan.chunk].astype(np.float64) * side.plan.input_scale)
    assert np.abs(message - wanted).max() <= 21
    evaluator = sealapi.Evaluator(context())
    products = []
    for j, ciphertext in enumerate(theirs):
        product = sealapi.Ciphertext()
        plain = seal.plaintext(residues(side.adapter._values[0, j]), tmp_path)
        evaluator.multiply_plain(ciphertext, plain, product)
        products.append(product)
    total = sealapi.Ciphertext()
    evaluator.add_many(products, total)
    ours = residues(side.adapter.multiply(ciphertexts)[0])
    assert (seal.read(total).reshape(2, N) == ours).all()


def test_our_secret_key_decrypts_what_seal_encrypts_under_our_public_key(tmp_path: Path) -> None:
    side = session(matrix(256, 8))
    halves = [residues(half) for half, _ in side.host_key._halves]
    encryptor = sealapi.Encryptor(context(), seal.public_key(np.stack(halves), tmp_path))
    plain = seal.plaintext(np.full(N, 2**40, np.uint64), tmp_path)
    made = sealapi.Ciphertext()
    encryptor.encrypt(plain, made)
    values = seal.read(made).reshape(1, 2, N)
    found = device.decrypt(wire.pack_reply(values), side.keys, side.plan) * side.plan.scale
    assert np.abs(found).max() < 2000  # the constant polynomial 2^40 sits in coefficient 0 alone


def test_entropy_is_drawn_afresh_for_every_query() -> None:
    side = session(matrix(16, 2))
    drawn: list[bytes] = []

    def entropy(size: int) -> bytes:
        drawn.append(os.urandom(size))
        return drawn[-1]

    for _ in range(3):
        device.encrypt(state(16), side.keys, side.plan, entropy)
    assert [len(d) for d in drawn] == [32, N * 6] * 3
