"""aider's ask mode: a question, streamed and whole, and an error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

url, token, given = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
command = str(Path(sys.executable).with_name("aider"))
# Nothing is asked, looked up or told to anybody.
quiet = (
    "--no-git",
    "--yes-always",
    "--no-check-update",
    "--no-show-release-notes",
    "--no-show-model-warnings",
    "--analytics-disable",
    "--no-pretty",
    "--no-fancy-input",
    "--no-detect-urls",
)
environment = dict(os.environ) | {"OPENAI_API_BASE": url, "OPENAI_API_KEY": token}


def asked(model: str, *more: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [command, *quiet, "--model", f"openai/{model}", *more, "--message", "/ask How?"],
            capture_output=True,
            text=True,
            check=False,
            env=environment | {"HOME": folder},
            cwd=folder,
        )
    return done.stdout + done.stderr


streamed, whole, refused = asked("gatelink"), asked("gatelink", "--no-stream"), asked("other")
# Aider counts what it was sent and what it got.
sent = ["Tokens:" in text for text in (streamed, whole)]
error = "model_not_found" if "not served" in refused else refused
print(json.dumps({"replies": sent, "error": error}))
