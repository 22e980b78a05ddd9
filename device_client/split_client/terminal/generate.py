"""``split-client generate``: one prompt, one reply."""

from __future__ import annotations

import json
import sys
from typing import Any

from split_client.api import SplitClient
from split_client.chat.reply import Reply
from split_client.config.reply import ReplyConfig
from split_client.errors import PromptEmpty
from split_client.generation.loop import TokenEvent
from split_client.generation.speculation.wanted import Drafts
from split_client.presets.folder import PresetFolder
from split_client.terminal.arguments import GenerateRequest
from split_client.terminal.connect import connected
from split_client.terminal.input.interrupt import stops_reply
from split_client.terminal.input.piped import is_piped, joined, read_piped
from split_client.terminal.input.unseen import keys_unseen
from split_client.terminal.output.screen import Screen
from split_client.terminal.output.words import cut_line, fewer_drafts_line, status_line
from split_client.terminal.sampling import SettingInvalid, expected_from, sampling_from


def run_generate(config: ReplyConfig, request: GenerateRequest, screen: Screen) -> bool:
    """Print the reply; false when it was stopped by Ctrl-C.

    Raises PresetError, ReplyCut and what connecting raises.
    """
    prompt = prompt_of(request, screen)
    screen.markdown = config.markdown
    screen.use_theme(config.theme)
    system = PresetFolder(config.presets).text(config.system) if config.system else None
    expected = expected_from(config)
    with connected(config, screen) as client, stops_reply(client.cancel), keys_unseen():
        reply = _begin(client, config, prompt, system, expected, request)
        if request.as_json:
            print_json(client, reply, screen)
        else:
            print_text(
                reply, config.max_tokens, screen, verbatim=request.raw or request.form is not None
            )
        if reply.stats.rows_sent and isinstance(config.drafts, int):
            _tell_fewer(config.drafts, client.most_drafts, screen)
        return _ended_whole(reply)


def _ended_whole(reply: Reply) -> bool:
    """False for a reply that was stopped. Raises ReplyCut for one without the end of its form."""
    if reply.finish_reason == "cancelled":
        return False
    if reply.formed is not None:
        reply.formed.value(reply.text, reply.finish_reason)
    return True


def prompt_of(request: GenerateRequest, screen: Screen) -> str:
    """What is given as an argument, on standard input, or both. Raises PromptEmpty."""
    prompt = _given(request, screen)
    # Without a template white space is text to continue.
    if not (prompt if request.raw else prompt.strip()):
        raise PromptEmpty
    return prompt


def _given(request: GenerateRequest, screen: Screen) -> str:
    alone = request.prompt is None or request.prompt == "-"
    if request.prompt is None and sys.stdin.isatty():
        raise SettingInvalid("there is no prompt; give one as an argument or on standard input")
    if not alone and not is_piped():
        return request.prompt or ""
    text = read_piped(lambda: _tell_waiting(screen, alone=alone))
    text = text if request.raw else text.rstrip("\n")
    return text if alone else joined(request.prompt or "", text)


def _tell_waiting(screen: Screen, *, alone: bool) -> None:
    if screen.err.isatty():
        without = "" if alone else "; with < /dev/null the prompt goes without it"
        screen.note(f"waiting for standard input, which is a pipe or file{without}")


def _begin(
    client: SplitClient,
    config: ReplyConfig,
    prompt: str,
    system: str | None,
    expected: str | None,
    request: GenerateRequest,
) -> Reply:
    params, most = sampling_from(config, client.default_params), config.max_tokens
    asked: Any = {"expected": expected, "form": request.form}
    if request.raw:
        return client.generate(prompt, params, max_tokens=most, stop=config.stop, **asked)
    messages = [{"role": "user", "content": prompt}]
    if system:
        messages.insert(0, {"role": "system", "content": system})
    return client.chat(messages, params, max_tokens=most, stop=config.stop, **asked)


def print_text(reply: Reply, max_tokens: int, screen: Screen, *, verbatim: bool = False) -> None:
    """The reply's text, and for a person what it cost or that it was cut."""
    screen.begin_reply(verbatim=verbatim)
    try:
        for piece in reply:
            screen.reply(piece)
    finally:
        screen.end_reply()
    if screen.interactive:
        screen.note(status_line(reply, max_tokens))
    elif reply.finish_reason == "length" and screen.err.isatty():
        screen.note(cut_line(max_tokens))


def _tell_fewer(wanted: Drafts, most: int, screen: Screen) -> None:
    line = fewer_drafts_line(wanted, most)
    if line is not None:
        screen.note(line)


def print_json(client: SplitClient, reply: Reply, screen: Screen) -> None:
    """One line per token and one at the end; escaped to ASCII, which no terminal interprets."""
    for event in reply.events():
        if isinstance(event, TokenEvent):
            timing = event.timing
            line = {
                "type": "token",
                "id": event.token,
                "text": event.text,
                "probability": round(event.probability, 6),
                "seconds": round(timing.total, 6),
                "engine_seconds": round(timing.engine, 6),
                "device_seconds": round(timing.device, 6),
                "wire_seconds": round(timing.wire, 6),
                "queue_seconds": round(timing.queue, 6),
                "forced": event.forced,
                "guessed": event.guessed,
            }
            screen.line(json.dumps(line))
    screen.line(json.dumps(_summary(client, reply)))


def _summary(client: SplitClient, reply: Reply) -> dict[str, object]:
    stats = reply.stats
    return {
        "type": "done",
        "model": client.manifest.name,
        "text": reply.text,
        "finish_reason": reply.finish_reason,
        "prompt_tokens": stats.prompt_tokens,
        "prompt_sent": stats.prompt_sent,
        "prompt_held": stats.prompt_held,
        "prompt_restored": stats.prompt_restored,
        "prompt_reused": stats.prompt_reused,
        "prompt_tiers": stats.prompt_tiers.counts(),
        "prompt_moved": stats.prompt_moved,
        "prompt_mended": stats.prompt_mended,
        "edits_refused": stats.edits_refused,
        "prompt_documents": stats.prompt_documents,
        "bytes_saved": stats.bytes_saved,
        "seconds_saved": _rounded(stats.seconds_saved),
        "tokens": stats.tokens,
        "ttft_seconds": round(stats.ttft, 6),
        "tokens_per_second": round(stats.tokens_per_second, 3),
        "bytes_up": stats.bytes_up,
        "bytes_down": stats.bytes_down,
        "round_trips": stats.round_trips,
        "rows_sent": stats.rows_sent,
        "drafted": stats.drafted,
        "accepted": stats.accepted,
        "forced": stats.forced,
        "transport": client.stats.transport,
    }


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 6)
