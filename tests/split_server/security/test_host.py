"""Own addresses: found, refreshed, and not looked up for every request."""

from __future__ import annotations

from split_server.security.host import OwnAddresses, interface_addresses


class _Machine:
    def __init__(self, *addresses: str) -> None:
        self.addresses = list(addresses)
        self.lookups = 0
        self.now = 0.0

    def look_up(self) -> list[str]:
        self.lookups += 1
        return self.addresses

    def own(self) -> OwnAddresses:
        return OwnAddresses(self.look_up, lambda: self.now)


def test_an_address_is_found_in_any_spelling() -> None:
    own = _Machine("192.168.1.5", "fe80::1%eth0", "aa:bb:cc:dd:ee:ff").own()
    assert "192.168.1.5" in own
    assert "fe80:0::1" in own
    assert "::ffff:192.168.1.5" in own


def test_names_and_foreign_addresses_are_not_own() -> None:
    own = _Machine("192.168.1.5").own()
    assert "192.168.1.6" not in own
    assert "evil.example.org" not in own
    assert "0.0.0.1" not in own


def test_a_new_address_is_noticed_after_ten_seconds_and_not_before() -> None:
    machine = _Machine("192.168.1.5")
    own = machine.own()
    assert "10.0.0.7" not in own
    machine.addresses.append("10.0.0.7")
    machine.now = 9.9
    assert "10.0.0.7" not in own
    assert machine.lookups == 1
    machine.now = 10.0
    assert "10.0.0.7" in own
    assert machine.lookups == 2


def test_known_addresses_need_no_look_up() -> None:
    machine = _Machine("192.168.1.5")
    own = machine.own()
    for _ in range(3):
        machine.now += 100
        assert "192.168.1.5" in own
    assert machine.lookups == 1


def test_this_machine_has_loopback_addresses() -> None:
    assert "127.0.0.1" in OwnAddresses(interface_addresses)
