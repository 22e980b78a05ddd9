"""Quotas that are given back, whatever happens in between."""

from __future__ import annotations

import pytest

from split_server.http.wire.quota import Quota
from split_wire.errors import Overloaded


def test_each_principal_has_its_own_quota() -> None:
    quota = Quota(1, "sockets")
    with quota.hold("alice"):
        with pytest.raises(Overloaded, match="1 sockets at a time"), quota.hold("alice"):
            pass
        with quota.hold("bob"):
            assert quota._held == {"alice": 1, "bob": 1}
    assert not quota._held


def test_an_amount_counts_as_much_as_it_is_and_may_change() -> None:
    quota = Quota(10, "bytes")
    with quota.hold("alice", 4) as first, quota.hold("alice", 6):
        with pytest.raises(Overloaded, match="10 bytes at a time"):
            first.resize(5)
        first.resize(1)
        assert quota._held == {"alice": 7}
        with quota.hold("alice", 3), pytest.raises(Overloaded), quota.hold("alice", 1):
            pass
    assert not quota._held


def test_a_failure_gives_the_quota_back() -> None:
    quota = Quota(1, "sockets")
    with pytest.raises(ValueError, match="inside"), quota.hold("alice"):
        raise ValueError("inside")
    with quota.hold("alice"):
        assert quota._held["alice"] == 1
