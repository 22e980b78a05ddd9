"""Tools or a form: what a reply may call cannot be held to another form as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from split_client.terminal.sampling import SettingInvalid
from split_client.terminal.tool_arguments import ToolRequest

if TYPE_CHECKING:
    from split_client.grammar.form import Form


def require_one(form: Form | None, tools: ToolRequest) -> None:
    """Raises SettingInvalid where both are asked for."""
    if form is not None and tools.wanted:
        raise SettingInvalid("a reply has tools or a form; leave one of them out")
