"""A prefill beside many sessions of somebody else whose steps have a few rows each."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from scripts.bench.attacks.figure import Figure
from scripts.bench.logged_server import logged_server
from scripts.bench.row_sessions import RowSession, Served
from scripts.bench.shapes import EMBEDDED
from split_client.errors import ClientError

_SESSIONS, _PREFILL_ROWS, _CONTEXT = 31, 512, 64
_ROUNDS = 5
_MOST = 3.0
_SETTLING = 1.5
_TOKENS = {"crowd": "crowd-of-short-steps", "modest": "modest-with-a-prompt"}


def attack(folder: Path) -> list[Figure]:
    """The seconds of a prefill of 512 rows: idle, and beside 31 sessions of 1, 8 and 16 rows."""
    file = folder / "tokens"
    file.touch(mode=0o600)
    file.write_text("".join(f"{name} {token}\n" for name, token in _TOKENS.items()))
    flags = ("--model", str(EMBEDDED), "--token-file", str(file), "--max-sessions", "64")
    with logged_server(folder / "server.log", *flags, token=_TOKENS["modest"]) as server:
        served = Served.at(server.url, _TOKENS["modest"], folder / "cache")
        seconds = {rows: _beside(served, rows) for rows in (0, 1, 8, 16)}
    return [
        Figure("prefill of 512 rows, idle", f"{seconds[0]:.2f} s", "", held=True),
        Figure("beside 31 sessions of 1 row", f"{seconds[1]:.2f} s", "", held=True),
        *(_judged(rows, seconds[rows], seconds[1]) for rows in (8, 16)),
    ]


def _judged(rows: int, seconds: float, single: float) -> Figure:
    ratio = seconds / single
    return Figure(
        f"beside 31 sessions of {rows} rows",
        f"{seconds:.2f} s ({ratio:.1f}x)",
        f"{_MOST:g}x of 1 row",
        ratio <= _MOST,
    )


def _beside(served: Served, rows: int) -> float:
    """The median of a prefill's seconds while 31 sessions send steps of ``rows`` each."""
    with contextlib.ExitStack() as stack:
        if rows:
            stack.callback(_crowd(served, rows))
            time.sleep(_SETTLING)
        return median(_prefill(served) for _ in range(_ROUNDS))


def _crowd(served: Served, rows: int) -> Callable[[], None]:
    """Start the sessions; what ends them."""
    over = threading.Event()
    threads = [
        threading.Thread(target=_keep_stepping, args=(served, rows, over), daemon=True)
        for _ in range(_SESSIONS)
    ]
    for thread in threads:
        thread.start()

    def end() -> None:
        over.set()
        for thread in threads:
            thread.join(timeout=60)

    return end


def _keep_stepping(served: Served, rows: int, over: threading.Event) -> None:
    session = RowSession(served, _TOKENS["crowd"])
    try:
        session.step(0, _CONTEXT)
        while not over.is_set():
            session.step(_CONTEXT, rows)
    finally:
        session.close()


def _prefill(served: Served) -> float:
    session = RowSession(served, _TOKENS["modest"])
    try:
        session.backend.open()
        began = time.monotonic()
        session.step(0, _PREFILL_ROWS)
        return time.monotonic() - began
    except ClientError as error:
        raise SystemExit(f"the prefill was not answered: {error}") from error
    finally:
        session.close()
