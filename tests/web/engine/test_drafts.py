"""Replies with drafts in a browser, over a real server, are plain ones in fewer steps."""

from __future__ import annotations

from typing import Any

from split_server.checkpoint.folder import EMBEDDED
from tests.web.engine.page import EnginePage
from tests.web.engine.test_tokens import greedy, said, user

QUESTION = "What is split inference?"
# Often enough the same words, so that a token has something to be guessed by.
LIST = "red apple, green pear, red apple, green pear, red apple, green pear, red apple, "


def again(engine: EnginePage, chat: str, **options: Any) -> list[dict[str, Any]]:
    """The same question twice in one chat; the second reply is asked for like another one."""
    first = engine.reply([user(QUESTION)], chat=chat, **options)
    expected = {} if options.get("drafts") == "off" else {"expected": first["text"]}
    return [first, engine.reply([user(QUESTION)], chat=chat, **expected | options)]


def test_another_reply_has_the_tokens_of_generate_in_fewer_round_trips(engine: EnginePage) -> None:
    ids = greedy(EMBEDDED, [user(QUESTION)])
    first, second = again(engine, "auto")
    assert [first["ids"], second["ids"]] == [ids, ids]
    assert second["accepted"] > 0
    assert second["roundTrips"] == second["tokens"] - second["accepted"]
    assert second["rowsSent"] == second["promptSent"] + second["roundTrips"] - 1 + second["drafted"]


def test_with_drafts_off_every_token_has_a_step(engine: EnginePage) -> None:
    ids = greedy(EMBEDDED, [user(QUESTION)])
    for reply in again(engine, "off", drafts="off"):
        assert reply["ids"] == ids
        assert (reply["drafted"], reply["roundTrips"]) == (0, reply["tokens"])


def test_a_drawn_reply_is_the_same_with_drafts_and_without(engine: EnginePage) -> None:
    params = {"temperature": 0.9, "top_k": 30, "repetition_penalty": 1.05, "seed": "11"}
    plain = engine.reply([user(LIST)], chat="plain", params=params, maxTokens=80, drafts="off")
    for expected in (plain["text"], plain["text"][:20] + " no " + plain["text"][24:]):
        reply = engine.reply(
            [user(LIST)], chat="drawn", params=params, maxTokens=80, expected=expected
        )
        assert (reply["ids"], reply["text"]) == (plain["ids"], plain["text"])
        assert reply["accepted"] > 0


def test_a_chat_goes_on_behind_drafts_that_were_wrong(engine: EnginePage) -> None:
    messages = [user(QUESTION)]
    first = engine.reply(messages, chat="wrong", expected="It is a fruit. " * 20)
    messages += [said(first["text"]), user("And what does the relay do?")]
    second = engine.reply(messages, chat="wrong")
    assert second["ids"] == greedy(EMBEDDED, messages)
    assert second["promptSent"] < second["promptTokens"] // 2


def test_with_attention_asked_for_every_token_has_a_row_and_a_step(engine: EnginePage) -> None:
    first, second = again(engine, "attention", attention=True)
    assert first["ids"] == second["ids"] == greedy(EMBEDDED, [user(QUESTION)])
    assert (second["drafted"], second["roundTrips"]) == (0, second["tokens"])
    attended = engine.page.evaluate("engine.attended('attention', 0)")
    assert (attended["first"], attended["end"]) == (0, second["tokens"])


def test_a_chat_with_noise_has_no_drafts(engine: EnginePage) -> None:
    noise = {"sigma": 1e-6, "epsilon": None}
    for reply in again(engine, "noised", noise=noise, draftMemory="server"):
        assert (reply["drafted"], reply["roundTrips"]) == (0, reply["tokens"])
