"""Chats that no context can hold."""

from __future__ import annotations

from typing import Any

import pytest

from split_client.chat.bound import TextBound
from split_client.chat.conversation import Conversation, Message
from split_client.errors import ChatTextTooLong, PromptTooLong
from split_client.template.template import MAX_OUTPUT


class Unused:
    """A template and a tokenizer that must not be asked."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)


def test_a_chat_that_cannot_fit_is_refused_before_it_is_rendered() -> None:
    conversation = Conversation(Unused(), Unused(), "Be brief.", TextBound(1000, lambda: 20))
    conversation.replace([Message("user", "x" * 15_000), Message("user", "y" * 5_001)])
    with pytest.raises(PromptTooLong, match="at least 1001 tokens and the model's context is 1000"):
        conversation.prompt()


def test_a_chat_that_no_template_may_render_is_its_own_fault() -> None:
    with pytest.raises(ChatTextTooLong, match="the chat has 4194305 characters"):
        TextBound(1 << 20, lambda: 200).require(MAX_OUTPUT + 1)


def test_what_might_fit_is_let_through_and_short_texts_ask_for_no_vocabulary() -> None:
    TextBound(1000, lambda: 20).require(20_000)
    TextBound(1000, lambda: pytest.fail("the vocabulary was asked for")).require(1000)
