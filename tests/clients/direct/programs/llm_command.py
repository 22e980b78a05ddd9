"""The llm command: a chat, streamed and whole, a schema, an error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

url, token, given = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
command = str(Path(sys.executable).with_name("llm"))


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [command, "-m", *arguments], capture_output=True, text=True, check=False, env=environment
    )


with tempfile.TemporaryDirectory() as folder:
    own = [
        {"model_id": name, "model_name": name, "api_base": url, "supports_schema": True}
        | {"api_key_name": "gatelink"}
        for name in ("gatelink", "other")
    ]
    (Path(folder) / "extra-openai-models.yaml").write_text(json.dumps(own))
    # As `llm keys set gatelink` writes it; to other addresses OpenAI's own key is not sent.
    (Path(folder) / "keys.json").write_text(json.dumps({"gatelink": token}))
    environment = dict(os.environ) | {"LLM_USER_PATH": folder}
    usual = ("gatelink", given["question"], "-o", "temperature", "0", "-o", "max_tokens", "16")
    streamed, chat = run(*usual).stdout, run(*usual, "--no-stream").stdout
    schema = run("gatelink", given["question"], "--schema", json.dumps(given["schema"]))
    error = run("other", "x").stderr
told = {"streamed": streamed, "whole": chat, "schema": json.loads(schema.stdout)}
print(json.dumps(told | {"error": "model_not_found" if "not served" in error else error}))
