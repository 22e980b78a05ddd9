"""Several clients over both transports, cut off while their server is killed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from split_client.api import ChatSession, SamplingParams, SplitClient
from split_client.chat.reply import Reply
from split_client.generation.loop import Event, TokenEvent
from split_client.transport.channel import Mode
from tests import oracle
from tests.end_to_end.server_processes import ServerProcess, server_process
from tests.proxies import CuttingProxy
from tests.split_relay.net import free_port

pytestmark = pytest.mark.slow
COUNT = 16
QUESTIONS = ("Hello, how are you?", "And now?")
GREEDY = SamplingParams()
SEEDED = SamplingParams(temperature=1.3, top_p=0.95, seed=11)
KINDS: tuple[tuple[Mode, SamplingParams], ...] = (
    ("websocket", GREEDY),
    ("http", GREEDY),
    ("auto", SEEDED),
    ("http", SEEDED),
)


@dataclass
class Chatter:
    """``asked``: the prompt of each reply; ``replies``: the ids that came."""

    chat: ChatSession
    way: CuttingProxy
    params: SamplingParams
    asked: list[list[int]]
    replies: list[list[int]]

    def say(self, text: str) -> tuple[Reply, Iterator[Event]]:
        """Ask; nothing is sent before the events are read."""
        self.chat.params, self.chat.max_tokens = self.params, COUNT
        self.chat.conversation.say(text)
        self.asked.append(self.chat.conversation.prompt().ids)
        reply = self.chat.answer()
        return reply, reply.events()


def test_cuts_and_a_kill_in_the_middle_change_no_token_and_leave_no_session(
    tiny_path: Path, tmp_path: Path
) -> None:
    with server_process(tiny_path, free_port()) as server, ExitStack() as stack:
        alone = _alone(server, tmp_path)
        chatters = [_chatter(stack, server, tmp_path, *kind) for kind in KINDS]
        for text in QUESTIONS:
            under_way = [chatter.say(text) for chatter in chatters]
            for _, events in under_way:
                _some_tokens(events, 4)
            for chatter in chatters[::2]:
                chatter.way.cut_after(700)
            for _, events in under_way:
                _some_tokens(events, 3)
            if text == QUESTIONS[0]:
                server.kill()
                server.start()
            for chatter, (reply, events) in zip(chatters, under_way, strict=True):
                for _ in events:
                    pass
                chatter.replies.append(reply.token_ids)
        assert all(chatter.way.cuts for chatter in chatters[::2])
        for chatter in chatters:
            chatter.chat.close()
        assert _open_sessions(server) == 0
        for chatter in chatters:
            _check(chatter, tiny_path, alone)


def _chatter(
    stack: ExitStack, server: ServerProcess, cache: Path, transport: Mode, params: SamplingParams
) -> Chatter:
    way = stack.enter_context(CuttingProxy(server.port))
    client = stack.enter_context(SplitClient(way.url, cache=cache, transport=transport))
    return Chatter(client.conversation(), way, params, [], [])


def _some_tokens(events: Iterator[Event], count: int) -> None:
    while count:
        count -= isinstance(next(events), TokenEvent)


def _alone(server: ServerProcess, cache: Path) -> list[list[int]]:
    """The seeded replies to the questions when nothing disturbs their client."""
    replies = []
    with SplitClient(server.url, cache=cache) as client:
        chat = client.conversation()
        chat.params, chat.max_tokens = SEEDED, COUNT
        for text in QUESTIONS:
            reply = chat.send(text)
            reply.read()
            replies.append(reply.token_ids)
    return replies


def _check(chatter: Chatter, path: Path, seeded_alone: list[list[int]]) -> None:
    """Greedy replies are those of `generate`, seeded ones those of a client alone."""
    if chatter.params is SEEDED:
        assert chatter.replies == seeded_alone
        return
    for asked, reply in zip(chatter.asked, chatter.replies, strict=True):
        assert reply == oracle.greedy(path, asked, COUNT)


def _open_sessions(server: ServerProcess) -> int:
    metrics = httpx.get(f"{server.url}/metrics", trust_env=False).text
    found = re.search(r"^split_sessions (\S+)$", metrics, re.MULTILINE)
    assert found is not None
    return int(float(found[1]))
