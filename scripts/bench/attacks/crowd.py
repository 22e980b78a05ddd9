"""Twice as many chats with long prompts as one principal has sessions, all at once."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from scripts.bench.attacks.figure import Figure
from scripts.bench.logged_server import logged_server
from scripts.bench.row_sessions import RowSession, Served
from scripts.bench.shapes import EMBEDDED
from split_client.errors import ClientError

_SESSIONS, _PROMPT, _TOKENS = 32, 256, 32
_LEAST = 0.9
_LET_IN = "crowd-of-many-chats"


@dataclass(slots=True)
class _Crowd:
    """``first``: seconds until each chat had its first token; ``rows``: sent by all chats."""

    chats: int
    first: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    rows: int = 0
    resends: int = 0
    seconds: float = 0.0

    @property
    def pace(self) -> float:
        """Tokens per second of all chats."""
        return (self.chats - len(self.failures)) * _TOKENS / self.seconds


def attack(folder: Path) -> list[Figure]:
    """32 and 64 chats on 32 sessions: failures, resends, and tokens per second of both."""
    file = folder / "tokens"
    file.touch(mode=0o600)
    file.write_text(f"crowd {_LET_IN}\n")
    limits = ("--max-sessions-per-principal", str(_SESSIONS), "--max-sessions", "64")
    flags = ("--model", str(EMBEDDED), "--token-file", str(file), *limits)
    with logged_server(folder / "server.log", *flags, token=_LET_IN) as server:
        served = Served.at(server.url, _LET_IN, folder / "cache")
        _chatted(served, 4)
        fitting, crowded = (_chatted(served, chats) for chats in (_SESSIONS, 2 * _SESSIONS))
    ratio = crowded.pace / fitting.pace
    needed = crowded.chats * (_PROMPT + _TOKENS)
    return [
        Figure(f"tokens/s of {fitting.chats} chats", f"{fitting.pace:.0f}", "", held=True),
        Figure(
            f"tokens/s of {crowded.chats} chats",
            f"{crowded.pace:.0f} ({ratio:.2f}x)",
            f"{_LEAST:g}x of {fitting.chats}",
            ratio >= _LEAST,
        ),
        Figure("chats that failed", str(len(crowded.failures)), "0", not crowded.failures),
        Figure(
            "chats that got a first token",
            f"{len(crowded.first)}, the last after {max(crowded.first, default=0.0):.1f} s",
            str(crowded.chats),
            len(crowded.first) == crowded.chats,
        ),
        Figure(
            "rows sent",
            f"{crowded.rows}, {crowded.resends} resends",
            str(needed),
            crowded.rows <= needed,
        ),
    ]


def _chatted(served: Served, chats: int) -> _Crowd:
    """So many chats from begin to end, each in a session that it closes."""
    crowd, lock = _Crowd(chats), threading.Lock()
    threads = [
        threading.Thread(target=_chat, args=(served, number, crowd, lock), daemon=True)
        for number in range(chats)
    ]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    crowd.seconds = time.monotonic() - began
    return crowd


def _chat(served: Served, number: int, crowd: _Crowd, lock: threading.Lock) -> None:
    session = RowSession(served, _LET_IN)
    tokens = [(number * 31 + place) % served.vocabulary for place in range(_PROMPT)]
    began = time.monotonic()
    try:
        session.sequence.extend(tokens)
        with lock:
            crowd.first.append(time.monotonic() - began)
        for place in range(_TOKENS):
            tokens.append((number + 7 * place) % served.vocabulary)
            session.sequence.extend(tokens)
    except ClientError as error:
        with lock:
            crowd.failures.append(error.code)
    finally:
        counters = session.sequence.counters
        with lock:
            crowd.rows += counters.rows_sent
            crowd.resends += counters.resends
        session.close()
