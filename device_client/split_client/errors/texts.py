"""Errors of what is written: tokenizer, chat template, prompts, messages, replies."""

from __future__ import annotations

from split_client.errors.base import ClientError


class TokenizerInvalid(ClientError):
    """The tokenizer file cannot be used."""

    code = "tokenizer_invalid"

    def __init__(self, reason: str) -> None:
        super().__init__(f"the model's tokenizer cannot be used: {reason}; pull the weights again")


class TextTooCostly(ClientError):
    """The tokenizer outgrew its limits of time or memory at a text and was stopped."""

    code = "text_too_costly"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"the model's tokenizer was stopped at this text: {reason}; shorten it, or put spaces "
            "and line breaks into it"
        )


class TemplateMissing(ClientError):
    """The model brings no chat template."""

    code = "template_missing"

    def __init__(self) -> None:
        super().__init__("this model has no chat template; use 'generate --raw'")


class TemplateFailed(ClientError):
    """The chat template is broken, or refuses these messages."""

    code = "template_failed"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"the model's chat template failed: {reason}; check the roles of the messages, "
            "or use 'generate --raw'"
        )


class TemplateTooCostly(ClientError):
    """The chat template outgrew its limits of time, memory or size and was stopped."""

    code = "template_too_costly"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"the model's chat template was stopped: {reason}; do not trust this server's model, "
            "or use 'generate --raw'"
        )


class PromptTooLong(ClientError):
    """The prompt leaves no room for a reply (counts in tokens).

    ``at_least``: it may have more than ``tokens``, because nobody counted on.
    """

    code = "prompt_too_long"

    def __init__(self, tokens: int, limit: int, *, at_least: bool = False) -> None:
        self.tokens, self.limit = tokens, limit
        has = "has at least" if at_least else "has"
        super().__init__(
            f"the prompt {has} {tokens} tokens and the model's context is {limit}; shorten it"
        )


class ChatTextTooLong(ClientError):
    """More characters in a chat's messages than the text of a prompt may have."""

    code = "chat_text_too_long"

    def __init__(self, characters: int, limit: int) -> None:
        super().__init__(
            f"the chat has {characters} characters and a prompt at most {limit}; shorten it"
        )


class ReplyCut(ClientError):
    """A reply that was asked to have a form and ended before it was whole; it has no value."""

    code = "reply_cut"

    def __init__(self, reason: str) -> None:
        super().__init__(f"the reply was cut before it had its form: {reason}")


class PromptEmpty(ClientError):
    """Nothing to continue from."""

    code = "prompt_empty"

    def __init__(self) -> None:
        super().__init__("the prompt is empty; write something")


class MessageInvalid(ClientError):
    """A message without a content, or without a role that a chat has."""

    code = "message_invalid"

    def __init__(
        self, index: int, reason: str = "it is not a map with the texts 'role' and 'content'"
    ) -> None:
        super().__init__(f"message {index}: {reason}")


class ConversationFileInvalid(ClientError):
    """A saved conversation cannot be read or written."""

    code = "conversation_file_invalid"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
