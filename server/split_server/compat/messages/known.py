"""The fields of Anthropic's Messages API, and which of them have an effect here."""

from __future__ import annotations

from typing import Final

from split_server.compat.translating.known import Known

_NO_THINKING: Final = "this model writes no thinking blocks; leave it out, or say disabled"
_KEPT: Final = ("cache_control",)
REQUEST: Final = Known(
    read=(
        "model", "messages", "system", "max_tokens", "stream", "stop_sequences", "temperature",
        "top_k", "top_p", "tools", "tool_choice", "output_config", "thinking", "cache_salt",
    ),
    idle=(*_KEPT, "metadata", "service_tier", "user_profile_id", "workspace_id"),
    refused={
        "container": (),
        "context_management": (),
        "diagnostics": (),
        "inference_geo": ("global",),
        "mcp_servers": (),
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
TOOL: Final = Known(
    read=("name", "description", "input_schema", "type"),
    idle=(*_KEPT, "eager_input_streaming", "strict"),
    refused={"allowed_callers": (), "defer_loading": (False,), "input_examples": ()},
    reasons={
        "allowed_callers": "the model alone calls tools",
        "defer_loading": "all tools are in the prompt",
        "input_examples": "describe them in the description",
    },
)
OUTPUT: Final = Known(
    read=("format",), idle=("effort",), reasons={"task_budget": "replies have max_tokens"}
)
BLOCKS: Final = {
    "text": Known(("type", "text"), _KEPT, {"citations": ()}),
    "tool_use": Known(("type", "id", "name", "input"), (*_KEPT, "caller", "toolset_name")),
    "tool_result": Known(("type", "tool_use_id", "content", "is_error"), (*_KEPT, "toolset_name")),
    "thinking": Known(("type",), ("thinking", "signature")),
    "redacted_thinking": Known(("type",), ("data",)),
}
MESSAGE: Final = Known(("role", "content"), ("stop_reason", "stop_sequence"))
CHOICE: Final = Known(("type", "name", "disable_parallel_tool_use"))
THINKING: Final = Known(("type",), ("display",), reasons={"budget_tokens": _NO_THINKING})
