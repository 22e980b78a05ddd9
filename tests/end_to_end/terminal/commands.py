"""The client's commands, in this process or one of their own, and chats that are typed."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from split_client import cli
from split_client.api import ChatSession, SplitClient
from split_client.terminal.chat import ChatLoop
from split_client.terminal.commands.line import Folders
from tests.split_client.terminal.consoles import RecordingScreen, TypedReader

QUESTION = "What is split inference?"


def run(*arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    try:
        status = cli.main(arguments)
    except SystemExit as exit_:
        status = int(exit_.code or 0)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def spawn(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "split_client.cli", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def talk(
    chat: tuple[SplitClient, ChatSession],
    *lines: str | type[BaseException],
    interactive: bool = False,
    folders: Folders | None = None,
    autosave: bool = False,
) -> tuple[RecordingScreen, TypedReader]:
    screen, reader = RecordingScreen(interactive), TypedReader(list(lines))
    loop = ChatLoop(*chat, reader, screen, folders)
    loop.autosave = autosave
    loop.run()
    return screen, reader
