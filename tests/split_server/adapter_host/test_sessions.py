"""Sessions of a host: whose they are, how many, and for how long."""

from __future__ import annotations

import pytest

from split_server.adapter_host.limits import HostLimits
from split_server.adapter_host.sessions import HostSession, SessionTable
from split_wire.errors import TooManySessions, UnknownSession


class _Table:
    def __init__(self, **limits: float) -> None:
        self.now = 0.0
        self.ended: list[HostSession] = []
        self.table = SessionTable(
            HostLimits(**limits),  # type: ignore[arg-type]
            self.ended.append,
            clock=lambda: self.now,
        )

    def open(self, principal: str = "ada") -> HostSession:
        session = self.table.open(principal, "banking", lambda: 0)
        session.key = (bytes(32), b"public")
        return session


def test_a_session_belongs_to_its_principal_and_adapter() -> None:
    tables = _Table()
    session = tables.open()
    assert tables.table.find("ada", "banking", session.id) is session
    for principal, adapter in (("babbage", "banking"), ("ada", "other")):
        with pytest.raises(UnknownSession):
            tables.table.find(principal, adapter, session.id)
    assert len(session.id) == 16
    assert len(session.host_nonce) == 32


def test_the_principals_longest_unused_session_makes_room() -> None:
    tables = _Table(sessions_per_principal=2)
    first, second = tables.open(), tables.open()
    other = tables.open("babbage")
    tables.now = 1.0
    tables.table.find("ada", "banking", first.id)
    tables.open()
    assert tables.ended == [second]
    assert tables.table.find("babbage", "banking", other.id) is other


def test_nobody_elses_session_makes_room_when_all_places_are_taken() -> None:
    tables = _Table(sessions=1)
    tables.open()
    with pytest.raises(TooManySessions):
        tables.open("babbage")
    assert tables.ended == []


def test_a_session_under_way_is_not_dropped() -> None:
    tables = _Table(sessions_per_principal=1, ttl=10.0)
    session = tables.open()
    session.keying = True
    tables.now = 100.0
    with pytest.raises(TooManySessions):
        tables.open()
    session.keying = False
    tables.table.sweep()
    assert tables.ended == [session]


def test_a_session_without_a_key_is_dropped_sooner() -> None:
    tables = _Table(ttl=100.0, keyless_ttl=5.0)
    keyed, keyless = tables.open(), tables.open()
    keyless.key = None
    tables.now = 6.0
    tables.table.sweep()
    assert tables.ended == [keyless]
    tables.now = 101.0
    tables.table.sweep()
    assert tables.ended == [keyless, keyed]
    assert len(tables.table) == 0


def test_sessions_of_whoever_is_gone_end() -> None:
    tables = _Table()
    stays, gone = tables.open("ada"), [tables.open("babbage") for _ in range(2)]
    tables.table.forget(lambda name: name == "babbage")
    assert tables.ended == gone
    assert tables.table.find("ada", "banking", stays.id) is stays
