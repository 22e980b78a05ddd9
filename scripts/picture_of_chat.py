"""Draws docs/images/*.svg: types questions into a real chat under tmux and renders the screen.

Needs tmux, and the environment that ``scripts/setup server`` makes.
"""

from __future__ import annotations

import io
import re
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "images"
COLUMNS, LINES = 80, 26
QUESTIONS = {
    "chat": [
        "What is split inference?",
        "What does the server see?",
        "What is the capital of France?",
        "and of Italy?",
        "/stats",
    ],
    "attention": ["What is split inference?", "/attention", "What does the server see?"],
}
_TMUX = ["tmux", "-L", "gatelink-picture"]
_PROMPT = "> "
_TRIES, _PAUSE = 300, 0.2


def main() -> None:
    # Set-up and download are done first, so that only the chat is on the screen.
    subprocess.run(["bash", "scripts/demo", "--once", "hello"], cwd=ROOT, check=True)
    for name in QUESTIONS:
        picture(name, f"cd {ROOT} && bash scripts/demo")


def picture(name: str, chat: str) -> None:
    """Draw one of the pictures; ``chat`` is the command that begins a chat."""
    size = ["-x", str(COLUMNS), "-y", str(LINES)]
    _tmux("new-session", "-d", "-s", "chat", *size, chat)
    try:
        _wait(_at_prompt)
        for question in QUESTIONS[name]:
            _tmux("send-keys", "-t", "chat", "-l", question)
            _tmux("send-keys", "-t", "chat", "Enter")
            _wait(partial(_answered, question))
        screen = _tmux("capture-pane", "-e", "-p", "-t", "chat")
    finally:
        _tmux("kill-server")
    _draw(name, screen.rstrip("\n"))


def _at_prompt(screen: str) -> bool:
    """Whether the chat waits for input."""
    lines = screen.rstrip("\n").splitlines()
    return len(lines) > 1 and lines[-1].strip() == _PROMPT.strip()


def _answered(question: str, screen: str) -> bool:
    """Whether the prompt stands again below the question."""
    _, asked, after = screen.rpartition(_PROMPT + question)
    return bool(asked) and _at_prompt(after)


def _wait(ready: Callable[[str], bool]) -> None:
    for _ in range(_TRIES):
        if ready(_tmux("capture-pane", "-p", "-t", "chat")):
            return
        time.sleep(_PAUSE)
    raise SystemExit("the chat did not answer in time:\n" + _tmux("capture-pane", "-p"))


def _draw(name: str, screen: str) -> None:
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text.from_ansi(screen))
    PICTURES.mkdir(parents=True, exist_ok=True)
    drawn = console.export_svg(title="split-client chat", unique_id=name)
    # A picture loads nothing from elsewhere.
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)
    (PICTURES / f"{name}.svg").write_text(drawn, "utf-8")


def _tmux(*arguments: str) -> str:
    done = subprocess.run([*_TMUX, *arguments], capture_output=True, text=True, check=False)
    return done.stdout


if __name__ == "__main__":
    main()
