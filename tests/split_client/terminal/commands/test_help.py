from __future__ import annotations

import pytest

from split_client.terminal.commands.command import Command, Group, Next
from split_client.terminal.commands.help import show_help
from tests.split_client.terminal.consoles import RecordingScreen
from tests.split_client.terminal.output.markdown.streams import SGR


def stay(_: str) -> Next:
    return "stay"


GROUPS = (
    Group("Turns", (Command(("undo",), "undo", "take back your last message", stay),)),
    Group("Files", (Command(("save",), "save [A LONG NAME]", "keep it " + "now " * 12, stay),)),
)


@pytest.mark.parametrize("columns", [40, 80])
def test_help_fits_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    screen = RecordingScreen(interactive=True)
    show_help(screen, GROUPS)
    lines = SGR.sub("", screen.shown).split("\n")
    assert all(len(line) < columns for line in lines)
    assert (f"{'/undo':21}take back your last message" in lines) is (columns == 80)
    assert ("  take back your last message" in lines) is (columns == 40)
    assert lines.index("Turns") < lines.index("Files")


def test_a_pipe_gets_one_line_per_command() -> None:
    screen = RecordingScreen()
    show_help(screen, GROUPS)
    assert "/save [A LONG NAME]  keep it now" in screen.shown
    assert "\x1b" not in screen.shown
