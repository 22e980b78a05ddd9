"""Runs a call: its name and arguments checked, its result cut and made harmless.

Whatever goes wrong is told to the model as the result, which can then call again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from split_client.errors import ClientError
from split_client.harmless import one_line, sanitise
from split_client.tools.call import ToolCall
from split_client.tools.checking import misfit
from split_client.tools.tool import Tool

MAX_RESULT: Final = 16 << 10  # characters
MAX_ARGUMENTS: Final = 64 << 10  # characters
_MAX_REASON: Final = 500
_LISTED: Final = 32


def refusal(call: ToolCall, tools: Mapping[str, Tool]) -> str | None:
    """Why ``call`` cannot be run, as its result; None where it can."""
    tool = tools.get(call.name)
    if tool is None:
        known = ", ".join(list(tools)[:_LISTED]) or "none"
        return failed(f"there is no tool {one_line(call.name, 64)!r}; the tools are: {known}")
    if len(call.arguments) > MAX_ARGUMENTS:
        return failed(f"the arguments are longer than {MAX_ARGUMENTS} characters")
    try:
        arguments: Any = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return failed("the arguments are not JSON")
    unfit = misfit(arguments, tool.parameters)
    if unfit is not None:
        return failed(unfit)
    return failed(f"nothing runs {tool.name} here") if tool.run is None else None


def run_call(call: ToolCall, tools: Mapping[str, Tool]) -> str:
    """The result of ``call``, or what is wrong with it."""
    refused = refusal(call, tools)
    run = tools[call.name].run if refused is None else None
    if run is None:
        return refused or ""
    try:
        return result_text(run(call.values()))
    except ClientError as error:
        return failed(str(error))
    # A tool may raise whatever it likes; Ctrl-C is none of its own.
    except Exception as error:  # noqa: BLE001
        return failed(_described(error))


def _described(error: Exception) -> str:
    kind = type(error).__name__
    try:
        return f"{kind}: {error}"
    # What describes it is the tool's own code too.
    except Exception:  # noqa: BLE001
        return kind


def result_text(value: object) -> str:
    """``value`` as the text that a model reads: bounded, without control characters."""
    if isinstance(value, str):
        text = value
    else:
        try:
            text = json.dumps(value, ensure_ascii=False, default=str)
        except (TypeError, ValueError, RecursionError):
            text = str(type(value).__name__)
    # What lies far behind the cut need not be looked at.
    whole = len(text)
    text = sanitise(text[: 2 * MAX_RESULT]).strip()
    if whole <= MAX_RESULT and len(text) <= MAX_RESULT:
        return text
    return f"{text[:MAX_RESULT]}\n… (cut here: the result has {whole} characters)"


def failed(reason: str) -> str:
    """The result of a call that did not work."""
    return f"error: {one_line(reason, _MAX_REASON)}"
