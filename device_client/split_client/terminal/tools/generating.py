"""``split-client generate --tools``: calls are printed as JSON, for whoever runs them."""

from __future__ import annotations

import json
from pathlib import Path

from split_client.api import ChatSession, Message, SplitClient, Tool
from split_client.chat.message import without_result
from split_client.chat.reading import message_in
from split_client.config.reply import ReplyConfig
from split_client.owner_file import reason
from split_client.presets.folder import PresetFolder
from split_client.terminal.arguments import GenerateRequest
from split_client.terminal.connect import connected
from split_client.terminal.generate import print_json, prompt_of
from split_client.terminal.input.interrupt import stops_reply
from split_client.terminal.input.piped import read_piped
from split_client.terminal.input.unseen import keys_unseen
from split_client.terminal.output.screen import Screen
from split_client.terminal.output.words import status_line
from split_client.terminal.paths import expanded
from split_client.terminal.sampling import SettingInvalid, expected_from, sampling_from
from split_client.terminal.tools.either import require_one
from split_client.tools.call import ToolCall
from split_client.tools.definitions import load_tools
from split_client.tools.errors import ToolResultInvalid
from split_client.tools.running import MAX_RESULT, result_text
from split_client.tools.tool import checked_choice
from split_files import DocumentInvalid, parse_document, read_regular

_MAX_RESULT_BYTES = 64 << 20
_NOT_PRINTED = "standard input is not what the run before printed"


def run_generate_with_tools(config: ReplyConfig, request: GenerateRequest, screen: Screen) -> bool:
    """Print the reply, or what it calls; false when it was stopped by Ctrl-C.

    Raises ToolError, PresetError and what connecting raises.
    """
    asked = request.tools
    if request.raw:
        raise SettingInvalid("tools are written by the chat template; leave --raw out")
    require_one(request.form, asked)
    if config.redact:
        raise SettingInvalid(
            "with --redact a call is confirmed in a chat; use split-client chat --redact --tools, "
            "or leave --redact out"
        )
    if asked.file is None:
        raise SettingInvalid("there are no tools; --tools FILE defines them")
    tools = load_tools(asked.file)
    choice = checked_choice(asked.choice, tools)
    messages = _continued(request) if asked.results else _begun(config, request, screen)
    screen.markdown = config.markdown
    screen.use_theme(config.theme)
    with connected(config, screen) as client, stops_reply(client.cancel), keys_unseen():
        chat = _chat(client, config, messages, tools, choice)
        reply = chat.answer()
        if request.as_json:
            print_json(client, reply, screen)
        else:
            reply.read()
        if reply.calls:
            screen.line(json.dumps(_called(client, chat, reply.text, reply.calls)))
        elif not request.as_json:
            screen.begin_reply()
            screen.reply(reply.text)
            screen.end_reply()
            if screen.interactive:
                screen.note(status_line(reply, config.max_tokens))
        return reply.finish_reason != "cancelled"


def _chat(
    client: SplitClient,
    config: ReplyConfig,
    messages: list[Message],
    tools: tuple[Tool, ...],
    choice: str,
) -> ChatSession:
    params = sampling_from(config, client.default_params)
    chat = client.conversation(None, params, max_tokens=config.max_tokens, stop=config.stop)
    chat.conversation.replace(messages)
    chat.expected = expected_from(config)
    chat.tools = tools
    chat.tool_choice = choice
    return chat


def _called(
    client: SplitClient, chat: ChatSession, text: str, calls: tuple[ToolCall, ...]
) -> dict[str, object]:
    """``messages``: what the next run takes on standard input, with this call in it."""
    return {
        "type": "tool_calls",
        "model": client.manifest.name,
        "text": text,
        "tool_calls": [call.as_dict() for call in calls],
        "messages": [message.as_dict() for message in chat.messages],
    }


def _begun(config: ReplyConfig, request: GenerateRequest, screen: Screen) -> list[Message]:
    system = PresetFolder(config.presets).text(config.system) if config.system else None
    said = Message("user", prompt_of(request, screen))
    return [Message("system", system), said] if system else [said]


def _continued(request: GenerateRequest) -> list[Message]:
    """The chat that the run before printed, with the results. Raises ToolResultInvalid."""
    if request.prompt not in (None, "-"):
        raise SettingInvalid(
            "with --tool-result there is no prompt; standard input is what the run before printed"
        )
    messages = _messages(read_piped())
    results = dict(_result(typed) for typed in request.tools.results)
    waiting = without_result(tuple(messages))
    for call in waiting:
        if call.id not in results:
            raise ToolResultInvalid(f"the call {call.id} has no result; add --tool-result")
        content = results.pop(call.id)
        messages.append(Message("tool", content, (), call.id, call.name))
    if results:
        known = ", ".join(call.id for call in waiting) or "none"
        raise ToolResultInvalid(f"no call {next(iter(results))!r} waits; those that do: {known}")
    return messages


def _messages(text: str) -> list[Message]:
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        document = parse_document(lines[-1].encode()) if lines else None
    except DocumentInvalid as error:
        raise ToolResultInvalid(f"{_NOT_PRINTED}: {error}") from error
    given = document.get("messages") if isinstance(document, dict) else None
    if not isinstance(given, list) or not given:
        raise ToolResultInvalid(_NOT_PRINTED)
    messages = []
    for index, each in enumerate(given):
        message = message_in(each) if isinstance(each, dict) else "it is no object"
        if isinstance(message, str):
            raise ToolResultInvalid(f"standard input, message {index}: {message}")
        messages.append(message)
    return messages


def _result(typed: str) -> tuple[str, str]:
    call, separator, name = typed.partition("=")
    if not separator or not call or not name:
        raise SettingInvalid(f"--tool-result {typed[:40]!r} is not ID=FILE")
    path: Path = expanded(name)
    try:
        data = read_regular(path, _MAX_RESULT_BYTES)
    except OSError as error:
        raise ToolResultInvalid(f"{path}: {reason(error)}") from error
    # Bytes beyond what is kept need not be decoded.
    text = data[: 8 * MAX_RESULT].decode("utf-8", "replace")
    return call, result_text(text)
