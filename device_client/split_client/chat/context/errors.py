"""Errors of what a chat leaves out of its context."""

from __future__ import annotations

from split_client.errors import ClientError


class ContextFull(ClientError):
    """The prompt is longer than the budget of the chat, and nothing was allowed to be left out."""

    code = "context_full"

    def __init__(self, tokens: int, budget: int) -> None:
        self.tokens, self.budget = tokens, budget
        super().__init__(
            f"the prompt has {tokens:,} tokens and the budget of this chat is {budget:,}; leave "
            "something out of the context, raise the budget, or begin a new chat"
        )


class ContextTooSmall(ClientError):
    """What may not be left out is longer than the budget of the chat."""

    code = "context_too_small"

    def __init__(self, tokens: int, budget: int) -> None:
        self.tokens, self.budget = tokens, budget
        super().__init__(
            f"what stays in the context (system message, first message, last turn, what is pinned) "
            f"has {tokens:,} tokens and the budget is {budget:,}; shorten the system message, "
            "unpin something, leave it out by hand, or raise the budget"
        )


class ContextInvalid(ClientError):
    """A policy, a budget, a message or a unit that there is none of."""

    code = "context_invalid"
