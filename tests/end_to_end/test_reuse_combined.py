"""Reuse together with everything that a chat can have: its tokens are those without reuse.

All pairs of where things are kept, how they travel, noise, adapter, attention, drafts, forms and
what happens between turns, with the embedded model; then one long chat by a switch.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from split_client.api import AttentionRequest, ChatSession, Choice, NoiseSettings, SplitClient
from split_client.generation.sampling.params import SamplingParams
from split_client.transport.channel import Patience
from split_server.checkpoint.folder import EMBEDDED
from tests import oracle
from tests.adapted import banking_greedy
from tests.exhaustive import EXHAUSTIVE
from tests.pairs import all_pairs
from tests.patience import PATIENCE
from tests.server_process import RunningServer, running_server

SYSTEM = " ".join(f"Rule {number}: answer briefly and name the rule." for number in range(6))
QUESTIONS = ("What is split inference?", "What is an overdraft?", "What does the relay do?")
TOKENS = 12
# Two runs of the embedded model for each principal: 256 positions of 3,072 bytes.
SMALL = 4 * 256 * 3_100
NOISE = {"sigma": 1e-4, "clip": 100.0, "key": bytes(range(32))}
FACTORS: dict[str, tuple[Any, ...]] = {
    "pool": ("roomy", "small", "disk"),
    "transport": ("websocket", "http"),
    "noise": (False, True),
    "adapter": (None, "banking"),
    "attention": (False, True),
    "drafts": ("off", "auto", 4),
    "form": (None, Choice(("a limit", "a limit of the account", "nothing"))),
    "between": ("nothing", "lost", "edited", "another device"),
}
# Positions after which the long chat begins anew: the model has 4,096.
LONGEST = 3_000
# Sessions are lost soon after they were opened, which a device would wait for.
AT_ONCE = Patience(first_delay=0.0)
TURNS = 1_000 if EXHAUSTIVE else 40


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, RunningServer]]:
    """One that keeps nothing, and those that do."""
    folder = tmp_path_factory.mktemp("disk")
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(running_server(dtype="float32", **settings))
            for name, settings in {
                "off": {"kv_reuse": "off"},
                "roomy": {},
                "small": {"kv_pool_bytes": SMALL},
                "disk": {"kv_disk": folder / "kv", "state": folder / "state"},
            }.items()
        }


@pytest.mark.parametrize(
    "case", all_pairs(FACTORS), ids=lambda case: "-".join(map(str, case.values()))
)
def test_a_chat_says_what_it_says_without_reuse(
    case: dict[str, Any], servers: dict[str, RunningServer], tmp_path: Path
) -> None:
    kept = replies(servers[case["pool"]], tmp_path / "kept", case)
    plain = replies(servers["off"], tmp_path / "plain", case | {"drafts": "off"})
    assert [ids for ids, _ in kept] == [ids for ids, _ in plain]
    for (_, one), (_, other) in zip(kept, plain, strict=True):
        assert (one is None) == (other is None) == (not case["attention"])
        if one is not None and other is not None:
            np.testing.assert_allclose(one, other, atol=1e-4)
    if not case["noise"] and case["form"] is None:
        assert kept[0][0] == truth(case["adapter"], messages(SYSTEM, QUESTIONS[0]))


def test_the_pairs_would_show_reuse_that_does_not_happen(
    servers: dict[str, RunningServer], tmp_path: Path
) -> None:
    case = {name: levels[0] for name, levels in FACTORS.items()}
    restored = []
    for name in ("roomy", "off"):
        for _ in range(2):
            with SplitClient(servers[name].url, cache=tmp_path) as client:
                chat = begun(client, case)
                reply = chat.send(QUESTIONS[0])
                reply.read()
        restored.append(reply.stats.prompt_restored)
    assert restored[0] > 64
    assert restored[1] == 0


def test_a_long_chat_goes_on_with_reuse_as_without(
    servers: dict[str, RunningServer], tmp_path: Path
) -> None:
    draw, said = random.Random(5), 0  # noqa: S311
    with ExitStack() as stack:
        chats = []
        for name in ("small", "off"):
            client = stack.enter_context(
                SplitClient(servers[name].url, cache=tmp_path / name, patience=AT_ONCE)
            )
            chats.append(begun(client, {"adapter": None}))
        for turn in range(TURNS):
            what = draw.choice(("on", "on", "on", "lost", "again", "undone"))
            if what == "lost":
                servers["small"].lose_sessions()
            question = draw.choice(QUESTIONS) + f" ({turn})"
            found = [spoken(chat, what, question) for chat in chats]
            assert found[0] == found[1], (turn, what)
            said += len(found[0])
            if chats[0].cached_tokens > LONGEST:
                for chat in chats:
                    chat.conversation.clear()
    assert said > 2 * TURNS
    reuse = servers["small"].parts.steps.reuse
    assert reuse is not None
    assert sum(reuse.taken.values()) > 0
    # One principal has half of the pool, and the chats held more than that.
    assert 0.8 * SMALL / 2 < reuse.pool.held_bytes <= SMALL / 2


def replies(
    server: RunningServer, folder: Path, case: dict[str, Any]
) -> list[tuple[tuple[int, ...], Any]]:
    """Ids of the replies of one chat, and what their last tokens attend to.

    Somebody has asked the first question before, so there is something to find.
    """
    with SplitClient(server.url, **wanted(folder, case)) as client:
        begun(client, case).send(QUESTIONS[0]).read()
        chat, found = begun(client, case), []
        for number, question in enumerate(QUESTIONS):
            if number:
                between(case["between"], server, chat)
                if case["pool"] == "disk":
                    to_disk_alone(server)
            if number and case["between"] == "another device":
                with SplitClient(server.url, **wanted(folder, case)) as other:
                    moved = begun(other, case)
                    moved.conversation = chat.conversation
                    found.append(answered(moved, question, case))
                continue
            found.append(answered(chat, question, case))
    return found


def wanted(folder: Path, case: dict[str, Any]) -> dict[str, Any]:
    """How a client of ``case`` is made."""
    noise = NoiseSettings(ledger=folder / "ledger.json", **NOISE) if case["noise"] else None
    # With noise a number is refused.
    drafts = "auto" if case["noise"] else case["drafts"]
    return {"cache": folder, "transport": case["transport"], "noise": noise, "drafts": drafts}


def begun(client: SplitClient, case: dict[str, Any]) -> ChatSession:
    """A chat with the system message."""
    chat = client.conversation(SYSTEM)
    chat.params, chat.max_tokens, chat.adapter = SamplingParams(), TOKENS, case["adapter"]
    return chat


def between(what: str, server: RunningServer, chat: ChatSession) -> None:
    """What happens before the next turn."""
    if what == "lost":
        server.lose_sessions()
    elif what == "edited":
        chat.conversation.undo()


def to_disk_alone(server: RunningServer) -> None:
    """What is kept is on disk, and no more in memory."""

    async def moved() -> None:
        reuse = server.parts.steps.reuse
        if reuse is not None and reuse.disk is not None:
            await reuse.disk.flush()
            reuse.pool.release(1 << 40)

    asyncio.run_coroutine_threadsafe(moved(), server.loop).result(PATIENCE)


def answered(chat: ChatSession, question: str, case: dict[str, Any]) -> tuple[tuple[int, ...], Any]:
    """The reply and what its last token attends to, mean over layers and heads."""
    chat.form = case["form"]
    reply = chat.send(question)
    reply.read()
    attended = None
    if case["attention"] and chat.answered is not None:
        weights = chat.attend(chat.answered.ids, AttentionRequest())
        attended = weights.values.mean(axis=(0, 1))
    return tuple(reply.token_ids), attended


def spoken(chat: ChatSession, what: str, question: str) -> tuple[int, ...]:
    """The ids of the next reply."""
    if what == "again" and chat.answered is not None:
        reply = chat.answer()
    else:
        if what == "undone" and len(chat.messages) > 1:
            chat.conversation.undo()
        reply = chat.send(question)
    reply.read()
    return tuple(reply.token_ids)


def messages(system: str, question: str) -> list[dict[str, str]]:
    return [{"role": "system", "content": system}, {"role": "user", "content": question}]


def truth(adapter: str | None, said: list[dict[str, str]]) -> tuple[int, ...]:
    """What ``generate`` says."""
    render = oracle.tokenizer(EMBEDDED).apply_chat_template
    ids = list(render(said, add_generation_prompt=True, return_dict=False))
    greedy = banking_greedy(ids, TOKENS) if adapter else oracle.greedy(EMBEDDED, ids, TOKENS)
    return tuple(greedy)
