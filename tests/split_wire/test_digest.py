from __future__ import annotations

import sys
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from split_wire.digest import DIGEST_BYTES, PrefixChain
from split_wire.tensor import WIRE_DTYPES, Tensor, item_size
from tests.split_wire.strategies import tensors


def expected(manifest: str, rows: list[Tensor]) -> list[bytes]:
    """The chain from its definition, over copies."""
    person = b"split.v1 prefix".ljust(16, b"\0")
    digest = blake2b(manifest.encode(), digest_size=16, person=person).digest()
    digests = [digest]
    for tensor in rows:
        size = tensor.width * item_size(tensor.dtype)
        for row in range(tensor.rows):
            values = bytes(tensor.data)[row * size : (row + 1) * size]
            scale = bytes(tensor.scales)[4 * row : 4 * row + 4]
            whole = digest + tensor.dtype.encode() + values + scale
            digest = blake2b(whole, digest_size=16, person=person).digest()
            digests.append(digest)
    return digests


@given(st.text(max_size=70), st.lists(tensors(), max_size=4))
def test_the_chain_is_the_one_of_its_definition(manifest: str, rows: list[Tensor]) -> None:
    chain = PrefixChain(manifest)
    for tensor in rows:
        chain.replace(len(chain), chain.following(len(chain), tensor))
    assert [chain.at(position) for position in range(len(chain) + 1)] == expected(manifest, rows)


def test_an_empty_chain_depends_on_the_manifest_only() -> None:
    assert len(PrefixChain("a")) == 0
    assert len(PrefixChain("a").at(0)) == DIGEST_BYTES
    assert PrefixChain("a").at(0) == PrefixChain("a").at(0) != PrefixChain("b").at(0)


def test_following_changes_nothing() -> None:
    chain = PrefixChain("m")
    before = chain.at(0)
    chain.following(0, Tensor("f32", (3, 1), bytes(12)))
    assert (len(chain), chain.at(0)) == (0, before)


def test_rows_sent_together_or_one_by_one_have_one_digest() -> None:
    values = np.arange(12, dtype=np.float32).reshape(4, 3)
    for dtype in WIRE_DTYPES:
        together, apart = PrefixChain("m"), PrefixChain("m")
        together.replace(0, together.following(0, Tensor.from_f32(values, dtype)))
        for row in range(4):
            one = Tensor.from_f32(values[row : row + 1], dtype)
            apart.replace(row, apart.following(row, one))
        assert together.at(4) == apart.at(4)


def test_the_same_bytes_in_another_dtype_have_another_digest() -> None:
    chain = PrefixChain("m")
    f16 = chain.following(0, Tensor("f16", (1, 2), bytes(4)))
    bf16 = chain.following(0, Tensor("bf16", (1, 2), bytes(4)))
    assert f16 != bf16


def test_a_scale_is_part_of_its_row() -> None:
    chain = PrefixChain("m")
    one = chain.following(0, Tensor("i8", (1, 2), b"ab", b"\0\0\0\1"))
    other = chain.following(0, Tensor("i8", (1, 2), b"ab", b"\0\0\0\2"))
    assert one != other


def test_replacing_below_the_end_forgets_what_came_after() -> None:
    chain = PrefixChain("m")
    first = chain.following(0, Tensor("f32", (5, 1), bytes(20)))
    chain.replace(0, first)
    other = chain.following(2, Tensor("f32", (1, 1), b"\1\2\3\4"))
    chain.replace(2, other)
    assert len(chain) == 3
    assert [chain.at(1), chain.at(2), chain.at(3)] == [*first[:2], *other]
    with pytest.raises(IndexError):
        chain.at(4)


def test_truncating_keeps_the_digests_below() -> None:
    chain = PrefixChain("m")
    digests = chain.following(0, Tensor("f32", (5, 1), bytes(20)))
    chain.replace(0, digests)
    chain.truncate(9)
    assert len(chain) == 5
    chain.truncate(2)
    assert (len(chain), chain.at(2)) == (2, digests[1])
    chain.truncate(0)
    assert len(chain) == 0


def test_a_chain_says_how_many_bytes_it_takes_and_takes_no_more() -> None:
    chain = PrefixChain("m")
    assert chain.size == 0
    chain.replace(0, chain.following(0, Tensor("f32", (1000, 1), bytes(4000))))
    assert chain.size == 16_000
    assert sum(sys.getsizeof(held) for held in vars(chain).values()) < 1.3 * chain.size


def test_a_position_that_the_chain_does_not_have_is_no_digest() -> None:
    chain = PrefixChain("m")
    for position in (-1, 1):
        with pytest.raises(IndexError):
            chain.at(position)
