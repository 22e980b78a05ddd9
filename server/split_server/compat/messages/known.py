"""The fields of Anthropic's Messages API, and which of them have an effect here."""

from __future__ import annotations

from typing import Final

from split_server.compat.accepted.values import NOTHING, known

_NO_THINKING: Final = "this model writes no thinking blocks; leave it out, or say disabled"
_KEPT: Final = ("cache_control",)
REQUEST: Final = known(
    read=(
        "model", "messages", "system", "max_tokens", "stream", "stop_sequences", "temperature",
        "top_k", "top_p", "tools", "tool_choice", "output_config", "thinking", "cache",
        "cache_salt",
    ),
    harmless=(*_KEPT, "metadata", "service_tier", "user_profile_id", "workspace_id"),
    neutral={
        "container": NOTHING,
        "context_management": NOTHING,
        "diagnostics": NOTHING,
        "inference_geo": ("global",),
        "mcp_servers": NOTHING,
        "speed": ("standard",),
    },
    reasons={
        "container": "nothing runs code here",
        "context_management": "messages are never edited here",
        "diagnostics": "the usage of the answer tells what was cached",
        "inference_geo": "the server does not know where it stands",
        "mcp_servers": "tools run where the client is",
        "speed": "there is one",
    },
)  # fmt: skip
TOOL: Final = known(
    read=("name", "description", "input_schema", "type"),
    harmless=(*_KEPT, "eager_input_streaming", "strict"),
    neutral={"allowed_callers": NOTHING, "defer_loading": (False,), "input_examples": NOTHING},
    reasons={
        "allowed_callers": "the model alone calls tools",
        "defer_loading": "all tools are in the prompt",
        "input_examples": "describe them in the description",
    },
)
OUTPUT: Final = known(
    read=("format",), harmless=("effort",), reasons={"task_budget": "replies have max_tokens"}
)
FORMAT: Final = known(("type", "schema"), ("name",))
BLOCKS: Final = {
    "text": known(("type", "text"), _KEPT, {"citations": NOTHING}),
    "tool_use": known(("type", "id", "name", "input"), (*_KEPT, "caller", "toolset_name")),
    "tool_result": known(("type", "tool_use_id", "content", "is_error"), (*_KEPT, "toolset_name")),
    "thinking": known(("type",), ("thinking", "signature")),
    "redacted_thinking": known(("type",), ("data",)),
}
MESSAGE: Final = known(("role", "content"), ("stop_reason", "stop_sequence"))
CHOICE: Final = known(("type", "name", "disable_parallel_tool_use"))
THINKING: Final = known(("type",), ("display",), reasons={"budget_tokens": _NO_THINKING})
