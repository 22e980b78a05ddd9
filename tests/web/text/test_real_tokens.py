"""The web app's token ids of a trained model, against llama.cpp's (``tests/vectors``)."""

from __future__ import annotations

import json
from pathlib import Path

from scripts.vectors.tokens.ids import digest
from scripts.vectors.tokens.lines import BLOCKS, block
from scripts.vectors.tokens.run import PATH
from tests.web.generation_peers import ask


def test_ten_thousand_lines_have_the_digests_of_llama_cpps_ids(real_path: Path) -> None:
    file = (real_path / "tokenizer.json").read_text("utf-8")
    blocks = [block(number) for number in range(BLOCKS)]
    asked = [{"rows": 49_152, "file": file, "texts": [line for one in blocks for line in one]}]
    (answer,) = ask("text/tokenize.js", asked)
    ids, size = answer["encoded"], len(blocks[0])
    made = [digest(ids[start : start + size]) for start in range(0, len(ids), size)]
    assert made == json.loads(PATH.read_text("ascii"))["blocks"]
