"""Every call is shown with all its arguments and asked for; without a terminal: declined."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Protocol

from split_client.api import Tool, ToolCall
from split_client.chat.tool_turns import UNASKED, Unasked
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.screen import Screen

_CTRL_D = b"\x04"


class Keys(Protocol):
    """Whoever presses keys."""

    def drop(self) -> None:
        """What was pressed so far answers nothing."""

    def press(self) -> str | None:
        """What is pressed next, several characters where they come at once; None: nobody is there,
        or leaves.
        """


class Confirmation:
    """``runs``: what runs a tool, in words, by its name; ``redacts``: whether the chat is redacted,
    where a call that nobody is asked about gets surrogates.

    What is allowed for the rest of a chat is kept here alone, for one tool and exactly its
    definition.
    """

    def __init__(
        self,
        screen: Screen,
        runs: dict[str, str],
        keys: Keys | None = None,
        redacts: Callable[[], bool] = lambda: False,
    ) -> None:
        self._screen = screen
        self._runs = runs
        self._keys = keys or TerminalKeys(screen)
        self._redacts = redacts
        self._always: set[tuple[str, str, str]] = set()

    def allow(self, call: ToolCall, tool: Tool) -> bool | Unasked:
        """Whether the user wants ``call`` to be run."""
        screen, runs = self._screen, self._runs.get(tool.name, "")
        screen.note(f"the model calls {tool.name}, which runs {one_line(runs)}, with")
        for line in shown_arguments(call).splitlines():
            screen.note(f"  {line}")
        allowed = (tool.name, tool.digest(), runs)
        if allowed in self._always:
            if self._redacts():
                screen.note("nobody is asked about this one, so it gets surrogates for values")
            return UNASKED
        key = self._answer()
        if key == "a":
            self._always.add(allowed)
            screen.note(f"{tool.name} is run without a question until another chat begins")
        if key not in ("y", "a"):
            screen.note("not run" if key else "not run: calls are confirmed at a terminal")
        return key in ("y", "a")

    def forget(self) -> None:
        """Another chat begins: every tool is asked for again."""
        self._always.clear()

    def _answer(self) -> str | None:
        question = "run it? y: yes, n: no, a: always in this chat"
        while True:
            self._keys.drop()
            self._screen.note(question)
            key = self._keys.press()
            if key is None or key in ("y", "n", "a"):
                return key
            question = "press y, n or a"


def shown_arguments(call: ToolCall) -> str:
    """All arguments, with an escape for every character that does not show itself."""
    text = json.dumps(call.values(), ensure_ascii=False, indent=2)
    return "".join(_shown(character) for character in text)


class TerminalKeys:
    """Standard input, where a person sits at it and at the screen."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def drop(self) -> None:
        """What was typed ahead, or pasted, is no answer to what was not seen yet."""
        if self._attended():
            import termios

            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)

    def press(self) -> str | None:
        """The bytes that come at once: more than one are a paste or a key's sequence."""
        if not self._attended():
            return None
        import termios
        import tty

        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)
        try:
            tty.setcbreak(terminal, termios.TCSANOW)
            pressed = os.read(terminal, 64)
        finally:
            termios.tcsetattr(terminal, termios.TCSANOW, before)
        left = not pressed or pressed == _CTRL_D
        return None if left else pressed.decode("ascii", "replace")

    def _attended(self) -> bool:
        try:
            import termios  # noqa: F401
        except ImportError:
            return False
        return sys.stdin.isatty() and self._screen.interactive


def _shown(character: str) -> str:
    if character == "\n" or character.isprintable():
        return character
    return json.dumps(character)[1:-1]
