from __future__ import annotations

import argparse

import pytest

from split_relay.config import RelayConfig
from split_settings import BadValue, resolve

NO_FLAGS = argparse.Namespace()


def test_the_defaults_are_the_documented_ones() -> None:
    config = RelayConfig()
    assert str(config.listen) == "0.0.0.0:9095"
    assert str(config.upstream) == "127.0.0.1:8095"
    assert not config.open


def test_addresses_come_from_variables_and_files() -> None:
    environ = {"SPLIT_RELAY_LISTEN": "[::1]:1"}
    config = resolve(RelayConfig, NO_FLAGS, environ, {"upstream": "server:2", "qr": False})
    assert (str(config.listen), str(config.upstream), config.qr) == ("[::1]:1", "server:2", False)


def test_a_bad_address_names_its_source() -> None:
    with pytest.raises(BadValue, match=r"SPLIT_RELAY_LISTEN: '9095' is not an address: a port"):
        resolve(RelayConfig, NO_FLAGS, {"SPLIT_RELAY_LISTEN": "9095"}, {})
    with pytest.raises(BadValue, match=r"relay.listen: expected text, got a whole number"):
        resolve(RelayConfig, NO_FLAGS, {}, {"listen": 9095})
