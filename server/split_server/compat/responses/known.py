"""The fields of OpenAI's Responses API, and which of them have an effect here."""

from __future__ import annotations

from typing import Final

from split_server.compat.accepted.values import NOTHING, known

# As extensions, by the names that they have in chats.
EXTENSIONS: Final = (
    "cache", "cache_group", "cache_salt", "frequency_penalty", "min_p", "presence_penalty",
    "repetition_penalty", "seed", "share_until", "top_k",
)  # fmt: skip
_NO_FILES: Final = "no files, prompts or conversations are kept here; send the input itself"
REQUEST: Final = known(
    read=(
        "input", "instructions", "max_output_tokens", "metadata", "model", "parallel_tool_calls",
        "previous_response_id", "prompt_cache_retention", "reasoning", "store", "stream",
        "stream_options", "temperature", "text", "tool_choice", "tools", "top_logprobs", "top_p",
        "include", *EXTENSIONS,
    ),
    harmless=(
        "max_tool_calls", "prompt_cache_key", "safety_identifier", "service_tier", "user",
    ),
    neutral={
        "access_programs": NOTHING,
        "background": (False,),
        "background_options": NOTHING,
        "context_management": NOTHING,
        "conversation": NOTHING,
        "image": NOTHING,
        "moderation": NOTHING,
        "prompt": NOTHING,
        "prompt_cache_options": NOTHING,
        "truncation": ("disabled",),
    },
    reasons={
        "background": "an answer comes on the connection that asks for it",
        "context_management": "the input is never cut or shortened",
        "conversation": _NO_FILES,
        "image": "this model reads text",
        "moderation": "nothing is moderated here",
        "prompt": _NO_FILES,
        "prompt_cache_options": "what is kept of prompts is the server's to decide",
        "truncation": "the input is never cut",
    },
)  # fmt: skip
REASONING: Final = known(
    (),
    (),
    {
        "effort": ("none",),
        "summary": NOTHING,
        "generate_summary": NOTHING,
        "encrypted_content": NOTHING,
    },
    dict.fromkeys(
        ("effort", "summary", "generate_summary", "context", "mode"),
        "this model does not reason apart from its reply",
    ),
)
TEXT: Final = known(
    ("format",),
    neutral={"verbosity": ("medium",)},
    reasons={"verbosity": "ask for it in the instructions"},
)
FORMAT: Final = known(("type", "schema"), ("name", "description", "strict"))
CHOICE: Final = known(("type", "name", "mode", "tools"))
STREAM: Final = known((), ("include_obfuscation", "include_usage"))
TOOL: Final = known(
    ("type", "name", "description", "parameters"),
    ("strict",),
    {
        "allowed_callers": NOTHING,
        "async": (False,),
        "defer_loading": (False,),
        "output_schema": NOTHING,
    },
    {
        "allowed_callers": "the model alone calls tools",
        "async": "a call waits for its output",
        "defer_loading": "all tools are in the prompt",
        "output_schema": "describe it in the description",
    },
)
_STATUS: Final = ("id", "status")
ITEMS: Final = {
    "message": known(("type", "role", "content"), (*_STATUS, "phase")),
    "function_call": known(
        ("type", "call_id", "name", "arguments"), (*_STATUS, "async", "caller", "namespace")
    ),
    "function_call_output": known(
        ("type", "call_id", "output"), (*_STATUS, "caller", "name", "namespace")
    ),
}
PARTS: Final = {
    "input_text": known(("type", "text"), ("prompt_cache_breakpoint",)),
    "output_text": known(("type", "text"), ("annotations", "logprobs")),
    "text": known(("type", "text")),
    "refusal": known(("type", "refusal")),
}
# What else an answer may have; nothing of the others is made here.
INCLUDED: Final = ("message.output_text.logprobs", "reasoning.encrypted_content")
