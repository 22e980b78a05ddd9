"""Messages that were made of documents and what is asked of them."""

from __future__ import annotations

from collections.abc import Sequence

# An empty line, at which texts are cut into chunks.
_BETWEEN = "\n\n"
# Messages with documents that a chat remembers, the newest.
_MOST = 64


class Attached:
    """What the messages of a chat ask, where documents come before it."""

    def __init__(self) -> None:
        self._asked = dict[str, str]()

    def message(self, text: str, documents: Sequence[str]) -> str:
        """``documents`` and behind them ``text``, as one message."""
        if not documents:
            return text
        message = _BETWEEN.join([*documents, text])
        self._asked.pop(message, None)
        self._asked[message] = text
        while len(self._asked) > _MOST:
            del self._asked[next(iter(self._asked))]
        return message

    def asked(self, message: str) -> str:
        """What ``message`` asks, without its documents."""
        return self._asked.get(message, message)
