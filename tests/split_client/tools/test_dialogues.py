"""Twenty calls in one chat, in the form of each family."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from split_client.chat.tool_turns import DECLINED, ToolTurns
from split_client.model.tokenizer import ModelTokenizer
from split_client.tools.families import CallForm
from tests.split_client.tools.dialogues import chat_of, family_names, spelled

CALLS = 20


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelTokenizer]:
    made = tokenizer_in(tmp_path_factory.mktemp("tokenizer"))
    yield made
    made.close()


def tokenizer_in(folder: Path) -> ModelTokenizer:
    from tests.split_client.tools.dialogues import tokenizer_of

    return tokenizer_of(folder)


def balance(account: str, day: int) -> str:
    """The balance of an account."""
    return f"{account} had {day * 10} on day {day}"


def script(form: CallForm) -> list[str]:
    calls = [spelled(form, "balance", {"account": "ann", "day": day}) for day in range(CALLS)]
    return [*calls, "That is all."]


@pytest.mark.parametrize("family", family_names())
def test_twenty_calls_are_run_and_answered_in_a_family_s_form(
    family: str, tokenizer: ModelTokenizer
) -> None:
    chat, maker, template = chat_of(family, tokenizer, script)
    chat.tools = (balance,)
    chat.conversation.say("What did Ann have?")
    replies = []
    for reply in ToolTurns(chat, most_turns=CALLS + 1):
        reply.read()
        replies.append(reply)
    template.close()
    assert [len(reply.calls) for reply in replies] == [1] * CALLS + [0]
    assert replies[-1].text.strip() == "That is all."
    results = [message.content for message in chat.messages if message.role == "tool"]
    assert results == [f"ann had {day * 10} on day {day}" for day in range(CALLS)]
    given = [json.loads(reply.calls[0].arguments) for reply in replies[:-1]]
    assert given == [{"account": "ann", "day": day} for day in range(CALLS)]
    assert maker.held > 0


@pytest.mark.parametrize("family", family_names())
def test_ids_of_earlier_turns_stay_a_beginning(family: str, tokenizer: ModelTokenizer) -> None:
    chat, maker, template = chat_of(family, tokenizer, lambda form: script(form)[-4:])
    chat.tools = (balance,)
    chat.conversation.say("What did Ann have?")
    for reply in ToolTurns(chat):
        reply.read()
    template.close()
    assert len(maker.prompts) == 4
    for earlier, reply_ids, later in zip(
        maker.prompts, maker.replies, maker.prompts[1:], strict=False
    ):
        held = [*earlier, *reply_ids[:-1]]
        assert later[: len(held)] == held


def test_a_call_that_is_declined_is_told_so(tokenizer: ModelTokenizer) -> None:
    chat, _, template = chat_of("hermes", tokenizer, lambda form: script(form)[-2:])
    chat.tools = (balance,)
    chat.conversation.say("What did Ann have?")
    for reply in ToolTurns(chat, allow=lambda _call, _tool: False):
        reply.read()
    template.close()
    assert [message.content for message in chat.messages if message.role == "tool"] == [DECLINED]


def test_the_last_turn_is_made_without_calls(tokenizer: ModelTokenizer) -> None:
    chat, _, template = chat_of("hermes", tokenizer, script)
    chat.tools = (balance,)
    chat.conversation.say("What did Ann have?")
    replies = list(ToolTurns(chat, most_turns=1))
    [reply] = replies
    reply.read()
    assert len(reply.calls) == 1
    for reply in ToolTurns(chat, most_turns=3):
        reply.read()
    template.close()
    assert reply.calls == ()
    assert "<tool_call>" in reply.text
    assert chat.tool_choice == "auto"
