from __future__ import annotations

import io

import pytest

from split_client.chat.reply import Reply
from split_client.generation.loop import Finished, FinishReason
from split_client.terminal.generate import print_text
from split_client.terminal.output.screen import Screen
from split_client.transport.base import Traffic
from tests.split_client.terminal.consoles import FakeTty


def notes(reason: FinishReason, *, out: bool, err: bool) -> str:
    streams = [FakeTty() if tty else io.StringIO() for tty in (out, err)]
    reply = Reply(iter([Finished(reason, "")]), 3, Traffic())
    print_text(reply, 7, Screen(*streams))
    return streams[1].getvalue()


@pytest.mark.parametrize(("out", "err"), [(True, False), (False, True), (True, True)])
def test_a_person_is_told_once_that_a_reply_was_cut(out: bool, err: bool) -> None:
    assert notes("length", out=out, err=err).count("cut at --max-tokens 7") == 1


def test_pipes_and_whole_replies_have_no_note() -> None:
    assert notes("length", out=False, err=False) == notes("eos", out=False, err=True) == ""
