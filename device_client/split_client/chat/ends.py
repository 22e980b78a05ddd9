"""Where a chat that was saved may have ended on a server: its replies' last tokens, made again."""

from __future__ import annotations

from collections.abc import Sequence

from split_client.chat.conversation import Conversation, Encoder, Message

# What is older than so many replies has long gone on in the later ones.
_MOST_REPLIES = 16


def ends_of(
    messages: Sequence[Message], conversation: Conversation, tokenizer: Encoder
) -> list[list[int]]:
    """Token ids of the chat up to each of its last replies, the newest first.

    ``conversation``: an empty one, which renders them. Raises what :meth:`Conversation.prompt`
    raises.
    """
    replies = [at for at, message in enumerate(messages) if message.role == "assistant"]
    found = [
        _end(messages, at, conversation, tokenizer) for at in reversed(replies[-_MOST_REPLIES:])
    ]
    # A reply that was cut off ends one token sooner: its last one was never sent.
    return [*found[:1], *(end[:-1] for end in found[:1]), *found[1:]]


def _end(
    messages: Sequence[Message], at: int, conversation: Conversation, tokenizer: Encoder
) -> list[int]:
    conversation.replace(messages[:at])
    ids, text = conversation.prompt().ids, messages[at].content
    reply = tokenizer.encode_after(ids, text)
    return ids + (tokenizer.encode(text) if reply is None else reply)
