"""What travels of a chat in a browser is what Python sends, rendered as transformers do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transformers import AutoTokenizer

from split_client.api import SplitClient
from split_client.chat.context.travelling import travelling
from split_client.chat.message import Message
from split_client.chat.reading import message_in
from split_server.checkpoint.folder import EMBEDDED
from tests import oracle
from tests.server_process import RunningServer
from tests.web.engine.page import EnginePage

_BUDGET = 400
_SENTENCES = "Split inference cuts a model in two. The device holds its ends. 😀 The rest is far."


def _chat(turns: int = 6) -> list[dict[str, Any]]:
    chat = [{"role": "system", "content": "You are a helpful assistant. Be brief."}]
    for number in range(turns):
        chat.append({"role": "user", "content": f"Question {number}. {_SENTENCES}"})
        chat.append({"role": "assistant", "content": f"Answer {number}. {_SENTENCES}"})
    return [*chat, {"role": "user", "content": "What is split inference?"}]


def _messages(chat: list[dict[str, Any]]) -> tuple[Message, ...]:
    read = [message_in(each) for each in chat]
    return tuple(each for each in read if isinstance(each, Message))


def _rendered(chat: list[dict[str, Any]]) -> list[int]:
    """Ids that transformers make of what is left of a chat."""
    tokenizer: Any = AutoTokenizer.from_pretrained(EMBEDDED)
    left = [each.as_dict() for each in travelling(_messages(chat))]
    asked = left[-1]["role"] == "user"
    ids = tokenizer.apply_chat_template(left, add_generation_prompt=asked, return_dict=False)
    return list(ids)


def _asked(engine: EnginePage, method: str, *given: Any) -> Any:
    return engine.page.evaluate(
        "([method, given]) => engine[method](...given)", [method, list(given)]
    )


def _pruned(chat: list[dict[str, Any]], proposal: dict[str, Any]) -> list[dict[str, Any]]:
    dropped = dict(proposal["dropped"])
    return [
        {**message, "dropped": dropped[index]} if index in dropped else message
        for index, message in enumerate(chat)
    ]


def test_counts_are_those_of_transformers_whatever_a_chat_ends_with(engine: EnginePage) -> None:
    for chat in (_chat(), _chat()[:-1], _chat(1)[:1]):
        found = _asked(engine, "count", "counted", chat, "What else?")
        assert found["fill"]["total"] == len(_rendered(chat))
        assert found["fill"]["again"] == found["fill"]["total"]
        assert found["fill"]["exact"] is True
    tokenizer = AutoTokenizer.from_pretrained(EMBEDDED)
    assert found["text"] == len(tokenizer.encode("What else?", add_special_tokens=False))
    [tokens] = found["fill"]["messages"]
    assert tokens == len(tokenizer.encode(_chat(1)[0]["content"], add_special_tokens=False))


def test_what_is_proposed_is_what_python_drops_and_its_prompt_is_transformers(
    engine: EnginePage, server: RunningServer, tmp_path: Path
) -> None:
    chat = _chat()
    proposal = _asked(engine, "propose", "chat", chat, {"budget": _BUDGET, "policy": "oldest"})
    less = _pruned(chat, proposal)
    with SplitClient(server.url, cache=tmp_path) as client:
        python = client.conversation()
        python.conversation.go_to(_messages(chat))
        python.context.policy = "oldest"
        python.context.set_budget(_BUDGET)
        expected = python.context.propose()
    assert expected is not None
    assert _messages(less) == expected.pruned.chat
    told = [proposal[name] for name in ("units", "before", "tokens", "sent", "limit")]
    pruned = expected.pruned
    assert told == [pruned.units, pruned.before, pruned.tokens, expected.sent, _BUDGET]
    sent = [each.as_dict() for each in travelling(_messages(less))]
    wish = {"budget": _BUDGET, "reserve": True}
    reply = engine.reply(sent, chat="pruned", context=wish)
    prompt = _rendered(less)
    assert (reply["promptTokens"], reply["promptSent"]) == (len(prompt), len(prompt))
    assert reply["ids"] == oracle.greedy(EMBEDDED, prompt, 40)


def test_a_cut_sends_what_is_behind_it_again_and_nothing_before_it(engine: EnginePage) -> None:
    chat = _chat(3)
    engine.reply(chat, chat="cut")
    less = [*chat]
    less[3] = {**less[3], "dropped": [[0, 10]]}
    whole, cut = _rendered(chat), _rendered(less)
    shared = next(at for at, (old, new) in enumerate(zip(whole, cut, strict=False)) if old != new)
    counted = _asked(engine, "count", "cut", less, "")["fill"]
    assert counted["again"] == len(cut) - shared
    sent = [each.as_dict() for each in travelling(_messages(less))]
    reply = engine.reply(sent, chat="cut")
    assert reply["promptSent"] == len(cut) - shared
    assert reply["ids"] == oracle.greedy(EMBEDDED, cut, 40)


def test_a_prompt_beyond_its_budget_is_refused_before_anything_travels(engine: EnginePage) -> None:
    steps = "async () => (await engine.stats()).exchanges"
    before = engine.page.evaluate(steps)
    for reserve, room in ((True, 40), (False, 0)):
        tokens = len(_rendered(_chat(2)))
        wish = {"budget": tokens + room, "reserve": reserve}
        assert engine.reply(_chat(2), chat=f"fits {room}", context=wish, maxTokens=1)["tokens"] == 1
    before = engine.page.evaluate(steps)
    for reserve, room in ((True, 0), (False, -1)):
        wish = {"budget": tokens + room, "reserve": reserve}
        assert engine.reply(_chat(2), chat="full", context=wish)["error"] == "context_full"
    assert engine.page.evaluate(steps) == before


def test_what_nothing_can_hold_is_not_tokenized_and_still_made_to_fit(engine: EnginePage) -> None:
    chat = _chat(2)
    chat[2]["content"] = "Much more of it. " * 40_000
    counted = _asked(engine, "count", "huge", chat, "")["fill"]
    assert counted["exact"] is False
    proposal = _asked(engine, "propose", "huge", chat, {"budget": None, "policy": "ask"})
    assert proposal["tokens"] == len(_rendered(_pruned(chat, proposal))) <= proposal["limit"]
    chat[1]["content"] = chat[2]["content"]
    code = engine.page.evaluate(
        "(chat) => engine.propose('huge', chat, {budget: null, policy: 'ask'})"
        ".then(() => '', ({code}) => code)",
        chat,
    )
    assert code == "context_too_small"
