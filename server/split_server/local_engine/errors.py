"""Errors of the engine in this process."""

from __future__ import annotations

from split_server.errors import ServerError


class EndsUnavailable(ServerError):
    """The ends of the model cannot be kept on this machine; the log says why."""

    code = "ends_unavailable"

    def __init__(self) -> None:
        super().__init__("the ends of this model cannot be opened here; the log says why")


class EngineClosed(ServerError):
    """A call of an engine that was closed."""

    code = "engine_closed"

    def __init__(self) -> None:
        super().__init__("this engine is closed; Engine.load opens another")


class PromptInvalid(ServerError):
    """Neither a text, nor token ids, nor messages; never with what is in it."""

    code = "prompt_invalid"

    def __init__(self) -> None:
        super().__init__(
            "a prompt is a text, a list of token ids, or a list of messages, each a map with "
            "'role' and 'content'"
        )
