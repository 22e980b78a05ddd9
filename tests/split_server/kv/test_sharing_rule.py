"""How long a beginning is shared by how many sessions."""

from __future__ import annotations

import pytest

from split_server.kv.sharing_rule import SharingRule

RULE = SharingRule(((512, 16), (2048, 4)))


@pytest.mark.parametrize(
    ("positions", "sessions"), [(0, None), (511, None), (512, 16), (2047, 16), (9999, 4)]
)
def test_the_longer_a_beginning_the_fewer_sessions_share_it(
    positions: int, sessions: int | None
) -> None:
    assert RULE.least(positions) == sessions
    if sessions is not None:
        assert RULE.pays(positions, sessions)
        assert not RULE.pays(positions, sessions - 1)
    assert RULE.pays(positions, 1000) is (sessions is not None)


def test_it_says_in_words_who_shares() -> None:
    assert str(RULE) == "512 positions from 16 sessions on, 2048 positions from 4 sessions on"
