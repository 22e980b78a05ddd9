"""The process that tokenizes: it reads requests, answers them, and may be killed at any time.

Its arguments are a limit of memory, set before the file is looked at, and the file. A request is
``{"open"}``, ``{"encode", "special"}``, ``{"decode", "skip_special"}`` or ``{"to_json"}``; each is
answered by ``{"value"}``, ``{"damaged"}`` or ``{"too_costly"}``. The time limit is the parent's.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from split_client.confined.messages import limit_memory, read_message, write_message
from split_client.errors import TokenizerInvalid


def main() -> None:
    """Serve until standard input ends."""
    limit_memory(int(sys.argv[1]))
    path = Path(sys.argv[2])
    from split_client.tokenizer.engine import LibraryEngine

    engine: LibraryEngine | None = None
    while (request := read_message(sys.stdin.buffer)) is not None:
        try:
            engine = engine or LibraryEngine.open(path)
            answer = {"value": _value(engine, request)}
        except TokenizerInvalid:
            answer = {"damaged": True}
        except MemoryError:
            answer = {"too_costly": "it needs too much memory"}
        # The library's panics are no Exceptions, and a tokenizer that had one is not asked again.
        except BaseException:  # noqa: BLE001
            answer = {"too_costly": "it failed"}
        write_message(sys.stdout.buffer, answer)


def _value(engine: Any, request: dict[str, Any]) -> Any:
    match request:
        case {"encode": str(text), "special": bool(special)}:
            return engine.encode(text, special)
        case {"decode": list(ids), "skip_special": bool(skip)}:
            return engine.decode(ids, skip)
        case {"to_json": _}:
            return engine.to_json()
    control = list(engine.control.items())
    return {"size": engine.size, "control": control, "added": sorted(engine.added)}


if __name__ == "__main__":
    main()
