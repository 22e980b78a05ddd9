"""Chats that were left, as they were."""

from __future__ import annotations

import pytest

from split_client.chat.context.fill import TokenCounter
from split_client.chat.context.room import ChatContext
from split_client.chat.steering.branches import MOST, Branches
from split_client.chat.steering.errors import BranchInvalid
from tests.split_client.chat.test_conversation import TOKENIZER, chat, turn


def test_what_is_left_out_is_left_out_of_the_branch_that_is_shown() -> None:
    conversation, branches = chat(), Branches()
    context = ChatContext(
        conversation, TokenCounter(TOKENIZER.encode), lambda: 4096, lambda _: (0, 0)
    )
    turn(conversation, "One. Two.", TOKENIZER.encode("Uno."))
    turn(conversation, "Three.", TOKENIZER.encode("Tres."))
    branches.note(conversation.messages)
    conversation.drop_reply()
    context.drop(0, 0)
    prompt = conversation.prompt()
    conversation.reply(prompt, "Drei.", TOKENIZER.encode("Drei."))
    assert [message.left for message in conversation.messages][::3] == ["Two.", "Drei."]
    conversation.go_to(branches.take(1, conversation.messages))
    assert [message.left for message in conversation.messages][::3] == ["One. Two.", "Tres."]
    conversation.go_to(branches.take(1, conversation.messages))
    assert [message.left for message in conversation.messages][::3] == ["Two.", "Drei."]


def test_so_many_are_kept_the_newest_first_and_none_twice() -> None:
    conversation, branches = chat(), Branches()
    for number in range(MOST + 2):
        conversation.clear()
        turn(conversation, f"{number}", TOKENIZER.encode("Yes."))
        branches.note(conversation.messages)
        branches.note(conversation.messages)
    assert len(branches.all) == MOST
    assert branches.all[0] == conversation.messages
    with pytest.raises(BranchInvalid):
        branches.take(MOST + 1, conversation.messages)
