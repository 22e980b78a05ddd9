"""Do encrypted adapters change a token? All held-out banking questions, against float64.

A real split-server and a real adapter host in processes of their own; the reference is transformers
in float32 with the adapter and the head's argmax in float64.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from scripts.demo_model.chat import Chat
from scripts.demo_model.embedded import ADAPTER, EMBEDDED
from scripts.demo_model.evaluation.adapter import expert_cases
from scripts.demo_model.evaluation.cases import Case
from scripts.demo_model.evaluation.reference import adapted_tokens
from scripts.demo_model.training.adapter import load_adapter
from scripts.listening import listening
from split_client.api import SplitClient

_TOKENS = 110


def main() -> None:
    options = _options()
    cases = expert_cases()[: options.cases or None]
    chat, adapter = Chat(EMBEDDED), load_adapter(EMBEDDED / ADAPTER)
    equal, right = 0, 0
    with contextlib.ExitStack() as stack:
        quiet = subprocess.DEVNULL
        server, _ = stack.enter_context(listening("serve", errors=quiet))
        host, _ = stack.enter_context(listening("adapters", errors=quiet))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        client = stack.enter_context(
            SplitClient(
                server, cache=folder, adapter="banking", adapter_host=host, masks=options.masks
            )
        )
        for number, case in enumerate(cases, 1):
            _wait_for_masks(client)
            reply = client.chat(case.messages(), max_tokens=_TOKENS)
            text = reply.read()
            wanted = adapted_tokens(
                chat.model, adapter, _prompt(chat, case), client.manifest.eos_token_ids, _TOKENS
            )
            equal += reply.token_ids == wanted
            right += case.judge(text)
            print(f"\r{number} of {len(cases)}: {equal} equal", end="", file=sys.stderr, flush=True)
        masks = client.masks
    print(file=sys.stderr)
    if options.masks and masks is not None:
        print(f"{masks.used} tokens had a mask, {masks.encrypted} were encrypted")
    print(f"{equal} of {len(cases)} replies have the reference's tokens; {right} are right answers")
    if equal < len(cases):
        raise SystemExit("the encrypted adapter changed a token")


def _wait_for_masks(client: SplitClient) -> None:
    """Until as many as are wanted are ready, as they would be where somebody reads and writes."""
    while (masks := client.masks) is not None and masks.ready < masks.wanted:
        if masks.reason:
            raise SystemExit(f"no masks: {masks.reason}")
        time.sleep(0.01)


def _prompt(chat: Chat, case: Case) -> list[int]:
    ids: list[int] = chat.tokenizer.apply_chat_template(
        case.messages(), add_generation_prompt=True, tokenize=True, return_dict=False
    )
    return ids


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=0, help="only the first so many; 0: all")
    parser.add_argument("--masks", type=int, default=0, help="one-time masks for each reply")
    return parser.parse_args()


if __name__ == "__main__":
    main()
