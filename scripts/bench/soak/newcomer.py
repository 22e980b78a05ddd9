"""A client that has nothing yet and may find no room for it.

``python -m scripts.bench.soak.newcomer``

A request names ``url``, ``cache`` and the most bytes that a file may have (None: no limit). It is
answered by the code of what went wrong, or by a reply.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from scripts.bench.soak.client import PATIENCE
from scripts.bench.soak.dialogues import DIALOGUES
from scripts.bench.soak.disk import no_file_grows
from scripts.bench.solo import MAX_TOKENS, sampling
from scripts.bench.workers import serve
from split_client.api import SplitClient
from split_client.errors import ClientError


def handle(request: dict[str, Any]) -> dict[str, Any]:
    """Pull the ends, ask one question, leave."""
    limit = request["limit"]
    limited = contextlib.nullcontext() if limit is None else no_file_grows(os.getpid(), limit)
    client = SplitClient(request["url"], cache=Path(request["cache"]), patience=PATIENCE)
    try:
        with limited, client:
            chat = client.conversation()
            chat.params, chat.max_tokens = sampling(None), MAX_TOKENS
            chat.conversation.say(DIALOGUES[0].questions[0][0])
            ids, reply = chat.conversation.prompt().ids, chat.answer()
            reply.read()
    except ClientError as error:
        return {"code": error.code}
    except Exception as error:  # noqa: BLE001 - told by the main process
        return {"code": None, "error": f"{type(error).__name__}: {error}"}
    return {"asked": ids, "ids": reply.token_ids, "text": reply.text}


if __name__ == "__main__":
    serve(handle)
