"""Long texts in a process whose memory is full: ``python -m … FILE``; one line of JSON.

The kernel's limit on private memory leaves what the plan keeps free for texts, and no more.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from split_client.errors import ClientError
from split_client.model.ends import DeviceEnds
from split_client.model.tokenizer import ModelTokenizer
from split_server.compat.text_process import TEXT_BYTES, TextProcess
from split_server.compat.texts import Texts
from split_server.memory.usage import process_usage

TEXTS = {
    "letters": "a" * 4_000_000,
    "words": "Hello, you. " * 340_000,
    "ideographs": "東京" * 650_000,
    "lines": "\n" * 4_000_000,
    "marks": "<|im_start|>" * 340_000,
    "composed": "e\u0301" * 1_300_000,
}


async def main(file: Path) -> dict[str, list[str]]:
    """What becomes of each text as a prompt, and of a part of it that is counted."""
    tokenizer = ModelTokenizer.open(file, 1 << 20, trusted=True)
    ends = cast("DeviceEnds", SimpleNamespace(tokenizer=tokenizer))
    texts = Texts(ends, TextProcess(file))
    # The threads and whatever the library sets up once.
    await texts.encode("somebody", "Hello, you. " * 2000)
    limit = process_usage().data + TEXT_BYTES
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    answers = {
        name: [await _answer(texts, text, 1 << 17), await _answer(texts, text[:200_000], 1 << 30)]
        for name, text in TEXTS.items()
    }
    texts.close()
    return answers


async def _answer(texts: Texts, text: str, limit: int) -> str:
    try:
        return str(len(await texts.prompt("somebody", text, limit)))
    except ClientError as error:
        return error.code


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(Path(sys.argv[1])))))
