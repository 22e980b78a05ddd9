"""The vectors that the page's own arithmetic is held to are those of this package."""

from __future__ import annotations

import struct

import pytest

from scripts.vectors.run import FOLDER, build, render

pytest.importorskip("tenseal")


def test_the_committed_vectors_are_what_this_package_gives() -> None:
    assert (FOLDER / "he.json").read_text("ascii") == render(build("he"))


def test_what_the_host_answers_there_decrypts_to_the_product_in_the_clear() -> None:
    exchange = build("he")["exchange"]
    found = [struct.unpack(">d", bytes.fromhex(bits))[0] for bits in exchange["product"]]
    apart = [abs(a - b) for a, b in zip(found, exchange["clear"], strict=True)]
    assert 0 < max(apart) < exchange["within"]
