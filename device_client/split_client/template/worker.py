"""The process that renders: it reads requests, answers them, and may be killed at any time.

The first message is the template, every further one a map of variables; each is answered by
``{"text"}``, ``{"failed"}`` or ``{"too_costly"}``. A memory limit is set before the template is
looked at; the time limit is the parent's, who kills.
"""

from __future__ import annotations

import sys
from typing import Any

from split_client.confined.messages import limit_memory, read_message, write_message

MAX_REASON = 300


def main() -> None:
    """Serve until standard input ends."""
    memory, longest = int(sys.argv[1]), int(sys.argv[2])
    limit_memory(memory)
    from jinja2 import TemplateError

    from split_client.template.environment import environment

    template: Any = None
    while (request := read_message(sys.stdin.buffer)) is not None:
        try:
            if template is None:
                template = environment().from_string(request["template"])
                answer = {"text": ""}
            else:
                answer = {"text": _bounded(template, request, longest)}
        except (MemoryError, RecursionError, _TooLong) as error:
            answer = {"too_costly": str(error) or "it needs too much memory"}
        except TemplateError as error:
            answer = {"failed": str(error.message or type(error).__name__)[:MAX_REASON]}
        # A template can raise whatever Python's operators raise.
        except Exception as error:  # noqa: BLE001
            answer = {"failed": f"{type(error).__name__}: {error}"[:MAX_REASON]}
        write_message(sys.stdout.buffer, answer)


class _TooLong(Exception):
    pass


def _bounded(template: Any, variables: dict[str, Any], longest: int) -> str:
    parts, length = [], 0
    for part in template.generate(**variables):
        length += len(part)
        if length > longest:
            raise _TooLong(f"its text is longer than {longest} characters")
        parts.append(part)
    return "".join(parts)


if __name__ == "__main__":
    main()
