"""Do encrypted adapters change a token? All held-out banking questions, against float64.

A real split-server and a real adapter host in processes of their own; the reference is transformers
in float32 with the adapter and the head's argmax in float64.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from scripts.demo_model.chat import Chat
from scripts.demo_model.embedded import ADAPTER, EMBEDDED
from scripts.demo_model.evaluation.adapter import expert_cases
from scripts.demo_model.evaluation.cases import Case
from scripts.demo_model.evaluation.reference import adapted_tokens
from scripts.demo_model.training.adapter import load_adapter
from split_client.api import SplitClient

_TOKENS = 110


def main() -> None:
    options = _options()
    cases = expert_cases()[: options.cases or None]
    chat, adapter = Chat(EMBEDDED), load_adapter(EMBEDDED / ADAPTER)
    equal, right = 0, 0
    with contextlib.ExitStack() as stack:
        server, host = stack.enter_context(_run("serve")), stack.enter_context(_run("adapters"))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        client = stack.enter_context(
            SplitClient(server, cache=folder, adapter="banking", adapter_host=host)
        )
        for number, case in enumerate(cases, 1):
            reply = client.chat(case.messages(), max_tokens=_TOKENS)
            text = reply.read()
            wanted = adapted_tokens(
                chat.model, adapter, _prompt(chat, case), client.manifest.eos_token_ids, _TOKENS
            )
            equal += reply.token_ids == wanted
            right += case.judge(text)
            print(f"\r{number} of {len(cases)}: {equal} equal", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(f"{equal} of {len(cases)} replies have the reference's tokens; {right} are right answers")
    if equal < len(cases):
        raise SystemExit("the encrypted adapter changed a token")


def _prompt(chat: Chat, case: Case) -> list[int]:
    ids: list[int] = chat.tokenizer.apply_chat_template(
        case.messages(), add_generation_prompt=True, tokenize=True, return_dict=False
    )
    return ids


@contextlib.contextmanager
def _run(command: str) -> Iterator[str]:
    """The address of a ``split-server`` command on a free port."""
    process = subprocess.Popen(
        [str(Path(sys.executable).parent / "split-server"), command, "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if found := re.match(r"listening on (\S+)", line):
                yield found[1]
                return
        raise SystemExit(f"split-server {command} did not start")
    finally:
        process.terminate()
        process.wait(timeout=60)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=0, help="only the first so many; 0: all")
    return parser.parse_args()


if __name__ == "__main__":
    main()
