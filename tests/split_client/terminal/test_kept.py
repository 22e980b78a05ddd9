from __future__ import annotations

from dataclasses import replace

import pytest

from split_client.api import DiskCache, Forgotten, Purged, ServerCache
from split_client.terminal.kept import forgotten_line, kept_lines, purged_line
from tests.split_client.terminal.test_server_panel import FORBIDDEN

DISK = DiskCache(3, 5_000_000, 1 << 40, 86_400)
KEPT = ServerCache(True, 7, 1_200_000, 1 << 30, 3600, 0, None)


def with_disk() -> ServerCache:
    return ServerCache(True, 7, 1_200_000, 1 << 30, 3600, 0, DISK)


def test_it_is_said_where_and_for_how_long_a_chat_is_kept() -> None:
    memory = " ".join(kept_lines(KEPT))
    assert "in its memory after the chat ends, until nobody used them for 60 min" in memory
    assert "they are the text to it" in memory
    assert "keeps 1.2 MB in memory now" in memory
    both = " ".join(kept_lines(with_disk()))
    assert "On its disk they may stay for 24.0 h, encrypted." in both
    assert "1.2 MB in memory and 5.0 MB on disk now" in both


def test_a_server_that_keeps_nothing_and_one_that_does_not_say_are_told_apart() -> None:
    nothing = ServerCache(False, 0, 0, 0, 0, 0, None)
    assert kept_lines(nothing) == [
        "It says that it keeps nothing of a chat once its session has ended."
    ]
    assert "it does not say for how long or where" in kept_lines(None)[0]


def test_the_words_claim_no_more_than_is_so() -> None:
    lines = [*kept_lines(with_disk()), *kept_lines(None), forgotten_line(Forgotten(2, 1))]
    assert not [word for word in FORBIDDEN if any(word in line.lower() for line in lines)]


@pytest.mark.parametrize(
    ("done", "said"),
    [
        (Forgotten(0, 0), "the server keeps nothing of this chat that was found"),
        (Forgotten(1158, 0), "the server deleted 1,158 tokens of this chat"),
        (
            Forgotten(100, 48),
            "the server deleted 52 tokens of this chat; 48 stay, because other chats begin with "
            "them",
        ),
        (
            Forgotten(100, 100),
            "the server still has 100 tokens of this chat: other chats go on from them, or it "
            "cannot delete",
        ),
        (
            Forgotten(1, 0, earlier=False),
            "the server deleted 1 token of this chat; what earlier sessions of it left could not "
            "be asked for",
        ),
    ],
)
def test_what_became_of_it_is_told(done: Forgotten, said: str) -> None:
    assert forgotten_line(done) == said


def test_what_became_of_all_chats_is_told() -> None:
    assert purged_line(Purged(4, 2_000_000)) == (
        "the server deleted 2.0 MB that it kept of your chats"
    )
    assert purged_line(Purged(0, 0)) == "the server keeps nothing of your chats any more"
    assert "does not offer" in purged_line(None)


def test_a_chat_that_takes_int8_is_told_whether_it_is_kept_so() -> None:
    both = replace(KEPT, tiers=("exact", "int8"))
    assert "whole numbers of 8 bits" in " ".join(kept_lines(both, "int8"))
    assert "keeps what is exact alone" in " ".join(kept_lines(KEPT, "int8"))
    assert "8 bits" not in " ".join(kept_lines(both))


def test_a_chat_that_takes_approximate_rows_is_told_whether_edits_move_them() -> None:
    offered = replace(KEPT, tiers=("exact", "approximate"))
    assert "approximate, which ≈ says" in " ".join(kept_lines(offered, "approximate"))
    assert "computes anew what lies behind an edit" in " ".join(kept_lines(KEPT, "approximate"))
