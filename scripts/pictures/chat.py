"""Draws docs/images/*.svg: types lines into a real chat under tmux and renders the screen.

    python -m scripts.pictures.chat                     draws all, with scripts/demo
    python -m scripts.pictures.chat --only chat-panel   draws one
    python -m scripts.pictures.chat --chat 'COMMAND'    with another command that begins a chat

Needs tmux, and the environment that ``scripts/setup server`` makes.
"""

from __future__ import annotations

import argparse
import io
import re
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.text import Text

from scripts.paths import ROOT
from split_client.chat.conversation import Message
from split_client.saved_chats.document import SavedConversation
from split_client.saved_chats.folder import ChatFolder

PICTURES = ROOT / "docs" / "images"


@dataclass(frozen=True, slots=True)
class Picture:
    """The lines typed into a terminal of ``columns`` and ``rows``."""

    columns: int
    rows: int
    typed: tuple[str, ...]


DRAWN = {
    "chat": Picture(
        80,
        32,
        (
            "What is split inference?",
            "What does the server see?",
            "What is the capital of France?",
            "and of Italy?",
            "/stats",
        ),
    ),
    "chat-40": Picture(
        40,
        44,
        ("What is split inference?", "and what is the KV cache?", "/save Basics", "/chats", "/set"),
    ),
    "chat-markdown": Picture(80, 32, ("/load Mark",)),
    "chat-panel": Picture(80, 39, ("What is split inference?", "/server")),
    "chat-panel-40": Picture(40, 64, ("What is split inference?", "/server")),
    "attention": Picture(
        80, 26, ("What is split inference?", "/attention", "What does the server see?")
    ),
}
# The embedded model writes plain prose; what markdown looks like is shown by a saved chat.
SAVED = SavedConversation(
    "gatelink-demo",
    (
        Message("user", "Which messages travel, and how large are they?"),
        Message(
            "assistant",
            """## One step

1. The device looks up the **embedding rows** of the new tokens.
2. It sends them with a *step number*; see [the protocol](docs/protocol.md).
   - a prompt is one step per 512 rows
   - a reply is one step per token

| Direction | What           |        Bytes |
|:----------|:---------------|-------------:|
| up        | embedding rows | 4 x H x rows |
| down      | hidden state   |        4 x H |

```python
with SplitClient("http://127.0.0.1:8095") as client:
    print(client.stats.bytes_up, client.stats.bytes_down)
```

> `H` is the hidden size. In float16 it is half of that.
""",
        ),
    ),
)
_TMUX = ["tmux", "-L", "gatelink-picture", "-f", "/dev/null"]
_PROMPT = "> "
# How full the context is stands at its right.
_EMPTY_PROMPT = re.compile(r">(\s+≈?[\d,]+ of [\d,]+)?\s*")
_TRIES, _PAUSE = 300, 0.2


def main() -> None:
    options = _options()
    if options.chat is None:
        # Set-up and download are done first, so that only the chat is on the screen.
        subprocess.run(["bash", "scripts/demo", "--once", "hello"], cwd=ROOT, check=True)
    for name in [options.only] if options.only else DRAWN:
        picture(name, DRAWN[name], options.chat or "bash scripts/demo")


def picture(name: str, drawn: Picture, chat: str) -> None:
    """Draw one of the pictures; ``chat`` is the command that begins a chat."""
    with tempfile.TemporaryDirectory() as data:
        ChatFolder(Path(data) / "chats").save("Markdown", SAVED)
        # A dark background, 256 colours, and nothing of the user's own.
        own = f"SPLIT_DATA={data} SPLIT_CONFIG=/dev/null COLORFGBG='15;0' TERM=tmux-256color"
        size = ["-x", str(drawn.columns), "-y", str(drawn.rows)]
        command = f"cd {shlex.quote(str(ROOT))} && env {own} {chat}"
        _tmux("new-session", "-d", "-s", "chat", *size, command)
        try:
            _wait(_at_prompt)
            for line in drawn.typed:
                _tmux("send-keys", "-t", "chat", "-l", line)
                _tmux("send-keys", "-t", "chat", "Enter")
                _wait(partial(_answered, line))
            screen = _tmux("capture-pane", "-e", "-p", "-t", "chat")
        finally:
            _tmux("kill-server")
    _draw(name, drawn.columns, screen.rstrip("\n"))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", choices=sorted(DRAWN), help="draw one of them")
    parser.add_argument("--chat", metavar="COMMAND", help="what begins a chat")
    return parser.parse_args()


def _at_prompt(screen: str) -> bool:
    """Whether the chat waits for input."""
    lines = screen.rstrip("\n").splitlines()
    return bool(lines) and _EMPTY_PROMPT.fullmatch(lines[-1]) is not None


def _answered(line: str, screen: str) -> bool:
    """Whether the prompt stands again below what was typed."""
    _, asked, after = screen.rpartition(_PROMPT + line)
    return bool(asked) and _at_prompt(after)


def _wait(ready: Callable[[str], bool]) -> None:
    for _ in range(_TRIES):
        if ready(_tmux("capture-pane", "-p", "-t", "chat")):
            return
        time.sleep(_PAUSE)
    raise SystemExit("the chat did not answer in time:\n" + _tmux("capture-pane", "-p"))


def _draw(name: str, columns: int, screen: str) -> None:
    console = Console(record=True, width=columns, file=io.StringIO())
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
