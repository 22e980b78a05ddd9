"""Keys: an agreed uniform half, a secret that stays where it is."""

from __future__ import annotations

import copy
import os
import pickle

import numpy as np
import pytest

from split_he.errors import MalformedKey
from split_he.keys import DeviceKeys, uniform_half
from split_he.modular import centre, centred
from split_he.params import N
from split_he.transform import inverse
from split_he.wire import parse_key
from tests.split_he.sessions import matrix, session


def test_the_secret_is_ternary_and_the_public_key_is_an_encryption_of_zero() -> None:
    side = session(matrix(16, 2))
    secret = inverse(side.keys.times_secret(np.ones(N, np.int64)))
    assert set(np.unique(secret)) == {-1, 0, 1}
    a = centred(uniform_half(side.host_nonce, side.device_nonce))
    b = centred(parse_key(side.keys.public))
    assert np.abs(inverse(centre(b + side.keys.times_secret(a)))).max() <= 21


def test_both_nonces_decide_the_uniform_half() -> None:
    one, two = bytes(32), b"\x01" * 32
    halves = [uniform_half(a, b) for a in (one, two) for b in (one, two)]
    for i in range(4):
        for j in range(i):
            assert not (halves[i] == halves[j]).any()
    assert (uniform_half(one, two) == halves[1]).all()


@pytest.mark.parametrize("size", [0, 31, 33, 64])
def test_nonces_of_another_length_are_refused(size: int) -> None:
    with pytest.raises(MalformedKey):
        DeviceKeys.generate(bytes(size), bytes(32))
    with pytest.raises(MalformedKey):
        DeviceKeys.generate(bytes(32), bytes(size))


def test_keys_are_new_every_time() -> None:
    nonces = os.urandom(32), os.urandom(32)
    assert DeviceKeys.generate(*nonces).public != DeviceKeys.generate(*nonces).public


def test_the_secret_is_neither_printed_nor_pickled_nor_copied() -> None:
    keys = DeviceKeys.generate(bytes(32), bytes(32))
    assert repr(keys) == "DeviceKeys(...)"
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="not serialised"):
            attempt(keys)
