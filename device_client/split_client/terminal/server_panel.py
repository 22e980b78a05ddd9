"""The server's view of a chat, in words that claim no more than is so (docs/privacy.md)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from split_client.api import ClientStats
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.words import counted, size
from split_client.transport.endpoint import Endpoint

_LONGEST_LINE = 600


@dataclass(frozen=True, slots=True)
class Observed:
    """``rows`` of ``width`` numbers went up; ``cached``: positions that the server holds.

    ``drafts``: whether steps carry guesses. ``attention``: how often it was asked for; ``adapter``:
    which one, and who sees it; ``noise``: what noised mode says of itself, empty where it is off;
    ``kept``: what the server keeps after the chat, in words; ``redaction``: what went out as
    surrogates, None where it is off; ``replica``: what the server calls itself, if it does;
    ``model``: which one, by its maker's name and the server's;
    ``streamed``: of so many ``layers``, those that it says it reads from disk in each pass.
    """

    endpoint: Endpoint
    stats: ClientStats
    rows: int
    width: int
    cached: int
    attention: int
    adapter: str | None
    noise: tuple[str, ...]
    kept: tuple[str, ...] = ()
    drafts: bool = False
    redaction: str | None = None
    replica: str | None = None
    streamed: int = 0
    layers: int = 0
    model: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it."""

    title: str
    lines: tuple[str, ...]


def panel(seen: Observed) -> tuple[Section, ...]:
    """The panel, section by section."""
    return (
        Section("Connection", tuple(_connection(seen))),
        Section("What travelled so far", tuple(_travelled(seen))),
        Section("What the server can learn", tuple(_learns(seen))),
        Section("What the server keeps", seen.kept),
        Section(
            "What stays on this device",
            (
                "Saved chats, presets, the seed, sampling settings and logit biases are never "
                "sent. The system message is part of the prompt.",
                "Tokenizer, LM head, sampler and penalties run here.",
            ),
        ),
    )


def _connection(seen: Observed) -> Iterator[str]:
    over = seen.stats.transport or "not connected yet"
    yield f"{seen.endpoint.url} ({over})"
    if seen.model:
        yield f"model {one_line(seen.model)}"
    if seen.replica is not None:
        yield f"replica {one_line(seen.replica)}, as it calls itself"
    if seen.streamed:
        yield f"layers {seen.streamed:,} of {seen.layers:,} read from disk in each pass"
    if seen.endpoint.secure:
        yield "TLS as far as this address; what stands there reads the frames."
    elif seen.endpoint.is_loopback:
        yield "Without TLS, within this machine."
    else:
        yield "WITHOUT TLS: whoever is on the way can read what the server can, and the token."
    if seen.stats.reconnects:
        yield counted(seen.stats.reconnects, "reconnect")


def _travelled(seen: Observed) -> Iterator[str]:
    stats = seen.stats
    yield f"up {size(stats.bytes_up)} in {counted(stats.exchanges, 'exchange')}"
    yield f"down {size(stats.bytes_down)}"
    yield f"{counted(seen.rows, 'embedding row')} of {seen.width} numbers"
    held = counted(seen.cached, "position")
    yield f"1 session, whose KV cache holds {held}" if seen.cached else "no open session"
    asked = f"asked for {counted(seen.attention, 'time')}" if seen.attention else "not asked for"
    yield f"attention: {asked}"
    yield f"adapter: {one_line(seen.adapter) if seen.adapter else 'none'}"


def _learns(seen: Observed) -> Iterator[str]:
    yield ("It knows all weights and our code, can keep all traffic, and sees sizes and timing.")
    yield (
        "This chat does not use the APIs of OpenAI, Anthropic, Ollama and Kobold that the server "
        "may have as well: whoever uses those sends it the text itself."
    )
    if seen.noise:
        yield from (one_line(line, _LONGEST_LINE) for line in seen.noise)
        return
    yield (
        "Split mode: assume that it can recover the prompt and the reply. Embedding rows are "
        "invertible by table look-up, and it could run the LM head itself."
    )
    if seen.redaction is not None:
        yield (
            f"Redaction: it has the prompt with surrogates for {seen.redaction}. Values that were "
            "not found, what is said about somebody, lengths and repetitions are in it as they are."
        )
    if seen.drafts:
        yield (
            "Drafts: the sizes of steps tell how far guesses hold, and with that the kind of task, "
            "such as an edit or code; rows of rejected drafts are rows like others. /set drafts "
            "off sends none."
        )
    yield (
        "Split mode moves work and control to the device; it is not confidentiality. Noise: off."
    )
