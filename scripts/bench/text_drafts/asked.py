"""What is asked of the embedded model, so many tokens of each."""

from __future__ import annotations

from typing import Any

_TEXT = (
    "Split inference divides a language model between two machines. The device keeps tokenizer, "
    "embedding, head and sampler; the server keeps the layers and the caches. "
)
_CITY = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 12},
        "temperature_unit": {"enum": ["celsius", "fahrenheit"]},
        "days_of_forecast": {"type": "integer", "minimum": 1, "maximum": 9},
    },
    "required": ["city", "temperature_unit", "days_of_forecast"],
    "additionalProperties": False,
}
_TOOL = {
    "type": "function",
    "function": {"name": "get_weather_forecast", "parameters": _CITY},
}


def said(text: str, **more: Any) -> dict[str, Any]:
    """A greedy chat of one message."""
    return {"messages": [{"role": "user", "content": text}], "temperature": 0, **more}


def workloads(tokens: int) -> dict[str, dict[str, Any]]:
    """Requests by name."""
    plain = said("What is split inference?", max_tokens=tokens)
    return {
        "chat": plain,
        "summary of a text": said(f"Summarise: {_TEXT * 3}", max_tokens=tokens),
        "tool call": said(
            "What is the weather in Rome?",
            max_tokens=tokens,
            tools=[_TOOL],
            tool_choice="required",
        ),
    }
