"""Every call is shown with all its arguments and asked for; without a terminal: declined."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable

from split_client.api import Tool, ToolCall
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.screen import Screen

_KEYS = "y n a"


class Confirmation:
    """``runs``: what runs a tool, in words, by its name; ``key`` waits for a key, None: nobody is
    there to press one.

    What is allowed for good is kept here alone, for one tool and exactly its definition.
    """

    def __init__(
        self, screen: Screen, runs: dict[str, str], key: Callable[[], str | None] | None = None
    ) -> None:
        self._screen = screen
        self._runs = runs
        self._key = key or (lambda: read_key(screen))
        self._always: set[tuple[str, str, str]] = set()

    def allow(self, call: ToolCall, tool: Tool) -> bool:
        """Whether the user wants ``call`` to be run."""
        screen, runs = self._screen, self._runs.get(tool.name, "")
        screen.note(f"the model calls {tool.name}, which runs {one_line(runs)}, with")
        for line in shown_arguments(call).splitlines():
            screen.note(f"  {line}")
        allowed = (tool.name, tool.digest(), runs)
        if allowed in self._always:
            return True
        screen.note("run it? y: yes, n: no, a: always in this chat")
        key = self._pressed()
        if key == "a":
            self._always.add(allowed)
        if key is None or key == "n":
            screen.note("not run" if key else "not run: calls are confirmed at a terminal")
        return key in ("y", "a")

    def _pressed(self) -> str | None:
        while (key := self._key()) is not None:
            if key in _KEYS.split():
                return key
        return None


def shown_arguments(call: ToolCall) -> str:
    """All arguments, with an escape for every character that does not show itself."""
    text = json.dumps(call.values(), ensure_ascii=False, indent=2)
    return "".join(_shown(character) for character in text)


def read_key(screen: Screen) -> str | None:
    """The next key that is pressed alone: neither typed ahead, nor a part of a paste or sequence.

    None where no person is there, and at the end of input.
    """
    if not (sys.stdin.isatty() and screen.interactive):
        return None
    try:
        import termios
        import tty
    except ImportError:
        return None
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        # Keys that were pressed before the question was seen answer nothing.
        tty.setcbreak(terminal, termios.TCSAFLUSH)
        pressed = os.read(terminal, 64)
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)
    if not pressed or pressed == b"\x04":
        return None
    return pressed.decode("ascii", "replace")


def _shown(character: str) -> str:
    if character == "\n" or character.isprintable():
        return character
    return json.dumps(character)[1:-1]
