"""What redaction needs to know of a reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from split_client.tools.call import ToolCall


class Reply(Protocol):
    """``beginning`` and ``text`` as a person reads them, ``written`` as the model wrote both."""

    @property
    def beginning(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def written(self) -> str: ...
    @property
    def calls(self) -> Sequence[ToolCall]: ...
