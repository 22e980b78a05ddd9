"""Encrypted adapters from the browser: tokens are the terminal client's, keys a reply's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser
from transformers import AutoTokenizer

from scripts.demo_model.evaluation.adapter import expert_cases
from split_client.api import SplitClient
from split_client.generation.sampling.params import SamplingParams
from split_server.checkpoint.folder import EMBEDDED
from split_server.sessions.step import StepAdmission
from tests.adapted import banking_greedy, write_adapter
from tests.checkpoints import tiny_checkpoint
from tests.exhaustive import EXHAUSTIVE
from tests.web.adapter_hosts import Pair, hosted_pair
from tests.web.engine.page import GREEDY, EnginePage, opened, serve_engine_page
from tests.web.engine.test_tokens import user

pytest.importorskip("tenseal")
QUESTION = "What is an overdraft?"
QUESTIONS = (QUESTION, "What is a savings account?", "How do I block a card?")
# All held-out banking questions, or some of all kinds.
CASES = (
    [case.messages() for case in expert_cases()]
    if EXHAUSTIVE
    else [[{"role": "user", "content": question}] for question in QUESTIONS]
)
COUNT = 30


@pytest.fixture(scope="module")
def pair(folder: Path) -> Iterator[Pair]:
    with hosted_pair(dtype="float32") as running:
        serve_engine_page(running.server, folder)
        yield running


@pytest.fixture(scope="module")
def engine(chromium: Browser, pair: Pair) -> Iterator[EnginePage]:
    with opened(chromium, pair.server) as page:
        page.ready(pair.server.url)
        yield page


def _terminal(pair: Pair, cache: Path, adapter: str, params: SamplingParams) -> list[list[int]]:
    replies = []
    with SplitClient(
        pair.server.url, cache=cache, adapter=adapter, adapter_host=pair.host.url
    ) as client:
        for messages in CASES:
            reply = client.chat(messages, params, max_tokens=COUNT)
            reply.read()
            replies.append(reply.token_ids)
    return replies


@pytest.mark.parametrize(
    "asked",
    [GREEDY, {"temperature": 0.9, "top_k": 20, "seed": 3}],
    ids=["greedy", "drawn"],
)
def test_tokens_are_the_terminals(
    engine: EnginePage, pair: Pair, tmp_path: Path, asked: dict[str, Any]
) -> None:
    wanted = _terminal(pair, tmp_path, "banking", SamplingParams(**asked))
    seeded = asked | ({"seed": str(asked["seed"])} if "seed" in asked else {})
    for messages, ids in zip(CASES, wanted, strict=True):
        how: dict[str, Any] = {"adapter": pair.named("banking"), "params": seeded}
        reply = engine.reply(messages, maxTokens=COUNT, chat="equal", **how)
        assert reply["ids"] == ids, messages
        assert reply["adapter"] == pair.named("banking")


def test_auto_is_chosen_here_by_the_words(engine: EnginePage, pair: Pair, tmp_path: Path) -> None:
    wanted = _terminal(pair, tmp_path, "auto", SamplingParams(temperature=0))
    for messages, ids in zip(CASES, wanted, strict=True):
        auto = pair.named("auto")
        reply = engine.reply(messages, maxTokens=COUNT, chat="auto", adapter=auto)
        assert reply["ids"] == ids, messages
    general = engine.reply([user("What is split inference?")], chat="auto", adapter=auto)
    assert general["adapter"] is None


def test_drafts_and_attention_change_no_token(engine: EnginePage, pair: Pair) -> None:
    prompt = [user(f"{QUESTION} Say it twice. {QUESTION}")]
    how: dict[str, Any] = {"adapter": pair.named("banking"), "maxTokens": COUNT}
    plain = engine.reply(prompt, chat="plain", drafts="off", **how)
    for name, more in (
        ("drafted", {"drafts": "auto", "expected": plain["text"]}),
        ("looked", {"attention": True}),
    ):
        assert engine.reply(prompt, chat=name, **how, **more)["ids"] == plain["ids"], name


@pytest.mark.parametrize("family", ["gemma2", "phi"] if EXHAUSTIVE else ["gemma2"])
def test_another_checkpoint_with_an_adapter_of_its_own(
    chromium: Browser, folder: Path, tmp_path: Path, family: str
) -> None:
    path = tiny_checkpoint(family, tmp_path / family, tied=True)
    write_adapter(tmp_path / "adapters" / "strong", 64, rows=16)
    with hosted_pair(path, adapters=tmp_path / "adapters", hidden=64, compat=False) as pair:
        serve_engine_page(pair.server, folder)
        with SplitClient(
            pair.server.url, cache=tmp_path / "c", adapter="strong", adapter_host=pair.host.url
        ) as client:
            wanted = client.chat([user(QUESTION)], SamplingParams(temperature=0), max_tokens=COUNT)
            wanted.read()
        with opened(chromium, pair.server) as page:
            page.ready(pair.server.url)
            how: dict[str, Any] = {"adapter": pair.named("strong"), "maxTokens": COUNT}
            reply = page.reply([user(QUESTION)], **how)
            plain = page.reply([user(QUESTION)], chat="plain", maxTokens=COUNT)
    assert reply["ids"] == wanted.token_ids
    assert reply["ids"] != plain["ids"]


def test_no_step_names_an_adapter(
    engine: EnginePage, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    named: list[str | None] = []
    real = StepAdmission.adapter

    def recorded(steps: StepAdmission, name: str | None) -> Any:
        named.append(name)
        return real(steps, name)

    monkeypatch.setattr(StepAdmission, "adapter", recorded)
    for adapter in (pair.named("banking"), pair.named("auto")):
        reply = engine.reply([user(QUESTION)], chat=f"told {adapter}", adapter=adapter)
        assert reply["ids"] == banking_greedy(_prompt(), 40)[: len(reply["ids"])]
    assert set(named) == {None}


def _prompt() -> list[int]:
    tokenizer: Any = AutoTokenizer.from_pretrained(EMBEDDED)
    chat = [user(QUESTION)]
    return list(tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_dict=False))


def test_each_reply_has_keys_of_its_own_also_in_two_pages_at_once(
    chromium: Browser, engine: EnginePage, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: list[bytes] = []
    sessions: list[bytes] = []
    host = pair.host.host
    set_key, evaluate = host.set_key, host.evaluate

    async def keyed(principal: str, name: str, session: bytes, *key: bytes) -> None:
        keys.append(key[1])
        await set_key(principal, name, session, *key)

    async def evaluated(principal: str, name: str, session: bytes, *query: Any) -> bytes:
        if session not in sessions:
            sessions.append(session)
        return await evaluate(principal, name, session, *query)

    monkeypatch.setattr(host, "set_key", keyed)
    monkeypatch.setattr(host, "evaluate", evaluated)
    how: dict[str, Any] = {"adapter": pair.named("banking"), "maxTokens": 12}
    with opened(chromium, pair.server) as other:
        other.ready(pair.server.url)
        for turn in range(2):
            for page in (engine, other):
                page.begin("both", [user(QUESTION)], chat=f"tabs {turn}", **how)
            replies = [page.finished("both")["ids"] for page in (engine, other)]
            assert replies[0] == replies[1]
    # Four replies; the first one's keys may have been made by the reply before.
    assert len(sessions) == 4
    assert len(set(keys)) == len(keys) >= 4


def test_a_reload_in_the_middle_of_a_reply_goes_on_with_other_keys(
    chromium: Browser, pair: Pair
) -> None:
    how: dict[str, Any] = {"adapter": pair.named("banking"), "maxTokens": COUNT}
    with opened(chromium, pair.server) as page:
        page.ready(pair.server.url)
        page.begin("cut", [user(QUESTION)], **how)
        page.page.wait_for_function("() => tokensOf('cut').length > 2")
        page.page.reload()
        page.page.wait_for_function("() => 'ready' in globalThis")
        page.ready(pair.server.url)
        reply = page.reply([user(QUESTION)], **how)
    assert reply["ids"] == banking_greedy(_prompt(), COUNT)[: len(reply["ids"])]


def test_a_stopped_reply_leaves_the_next_one_whole(engine: EnginePage, pair: Pair) -> None:
    how: dict[str, Any] = {"adapter": pair.named("banking"), "maxTokens": 40}
    engine.begin("long", [user(QUESTION)], chat="stopped", **how)
    engine.page.wait_for_function("() => tokensOf('long').length > 2")
    engine.page.evaluate("stopReply('long')")
    assert engine.finished("long")["reason"] in ("cancelled", "eos")
    reply = engine.reply([user(QUESTION)], chat="stopped", **how)
    assert reply["ids"] == banking_greedy(_prompt(), 40)[: len(reply["ids"])]


def test_a_host_that_is_not_named_or_not_there_ends_the_reply_in_words(
    engine: EnginePage, pair: Pair
) -> None:
    elsewhere = engine.reply([user(QUESTION)], chat="other", adapter="banking@http://127.0.0.1:9")
    assert elsewhere["error"] == "adapter_host_not_named"
    unknown = engine.reply([user(QUESTION)], chat="other", adapter=pair.named("nothing"))
    assert unknown["error"] == "unknown_adapter"


def test_a_spent_budget_ends_the_reply_and_nothing_goes_on_without_the_adapter(
    chromium: Browser, folder: Path
) -> None:
    with hosted_pair(budget=3, dtype="float32") as pair:
        serve_engine_page(pair.server, folder)
        with opened(chromium, pair.server) as page:
            page.ready(pair.server.url)
            adapter = pair.named("banking")
            page.begin("spent", [user(QUESTION)], adapter=adapter)
            ended = page.finished("spent")
            made = page.page.evaluate("() => tokensOf('spent').length")
    assert ended["error"] == "budget_exhausted"
    assert "--query-budget" in ended["message"]
    assert made == 3


def test_a_host_that_is_restarted_is_given_new_keys_and_one_that_is_lost_ends_the_reply(
    chromium: Browser, folder: Path
) -> None:
    with hosted_pair(dtype="float32") as pair:
        serve_engine_page(pair.server, folder)
        with opened(chromium, pair.server) as page:
            page.ready(pair.server.url)
            adapter = pair.named("banking")
            first = page.reply([user(QUESTION)], adapter=adapter)
            # As a restart loses them.
            pair.host.host.sessions._held.clear()
            again = page.reply([user(QUESTION)], chat="again", adapter=adapter)
            assert again["ids"] == first["ids"]
            page.page.context.route("**/evaluate", lambda route: route.abort())
            lost = page.reply([user(QUESTION)], chat="lost", adapter=adapter)
    assert lost["error"] == "adapter_host_unreachable"
    assert "the reply stops" in lost["message"]
