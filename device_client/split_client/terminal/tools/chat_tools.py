"""Tools of a chat: bound to what runs them, and run after a reply that calls them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from split_client.api import ChatSession, Tool, ToolCall
from split_client.chat.reply import Reply
from split_client.chat.tool_turns import MOST_TURNS, ToolTurns
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.screen import Screen
from split_client.terminal.output.words import counted
from split_client.terminal.tool_arguments import ToolRequest
from split_client.terminal.tools.confirming import Confirmation
from split_client.tools.commands import Command, split_command
from split_client.tools.definitions import load_tools
from split_client.tools.errors import ToolsInvalid
from split_client.tools.tool import checked_choice

_RESULT_SHOWN = 200


class ChatTools:
    """Runs what replies of ``chat`` call, where ``confirmation`` lets it."""

    def __init__(
        self, chat: ChatSession, screen: Screen, confirmation: Confirmation, choice: str = "auto"
    ) -> None:
        self._chat, self._screen, self._choice = chat, screen, choice
        self._turns = ToolTurns(chat, MOST_TURNS, confirmation.allow, self._told)
        self._turn = 0

    def begin(self) -> None:
        """A message of the user is about to be answered."""
        self._turn = 1
        self._chat.tool_choice = self._choice

    def ran(self, reply: Reply) -> bool:
        """Run what ``reply`` calls; whether the model is to go on from the results."""
        if reply.finish_reason == "cancelled" or not self._chat.conversation.waiting:
            return False
        self._turns.run_waiting()
        self._turn += 1
        last = self._turn >= MOST_TURNS
        if last:
            self._screen.note(f"{MOST_TURNS} replies without an answer; the next calls no tool")
        self._chat.tool_choice = "none" if last or self._choice == "none" else "auto"
        return True

    def _told(self, call: ToolCall, result: str) -> None:
        name = one_line(call.name, 64)
        self._screen.note(f"result of {name}: {one_line(result, _RESULT_SHOWN)}")


@contextmanager
def bound_tools(
    request: ToolRequest, screen: Screen
) -> Iterator[tuple[tuple[Tool, ...], dict[str, str]]]:
    """The tools that are asked for, with what runs each in words; servers are up inside of it.

    Raises ToolError.
    """
    with ExitStack() as opened:
        tools, runs = _commands(request, screen)
        if request.servers or request.server_files:
            from split_client.terminal.tools.servers import server_tools

            found = server_tools(request, opened, screen)
            tools, runs = [*tools, *found[0]], {**runs, **found[1]}
        checked_choice(request.choice, tools)
        if tools and screen.interactive:
            names = ", ".join(tool.name for tool in tools)
            screen.note(f"{counted(len(tools), 'tool')}: {one_line(names)}")
        yield tuple(tools), runs


def _commands(request: ToolRequest, screen: Screen) -> tuple[list[Tool], dict[str, str]]:
    defined = {} if request.file is None else {tool.name: tool for tool in load_tools(request.file)}
    tools: dict[str, Tool] = {}
    runs: dict[str, str] = {}
    for typed in request.commands:
        name, separator, command = typed.partition("=")
        if not separator or name not in defined or name in tools:
            reason = "it is not NAME=COMMAND" if not separator else "it is bound twice"
            if separator and name not in defined:
                reason = "--tools FILE defines no tool of this name"
            raise ToolsInvalid(f"--tool {name[:64]}", reason)
        tools[name] = defined[name].running(Command(split_command(command), request.seconds))
        runs[name] = command
    unbound = [name for name in defined if name not in tools]
    if unbound:
        screen.note(f"left out, as no --tool runs them: {one_line(', '.join(unbound))}")
    return list(tools.values()), runs
