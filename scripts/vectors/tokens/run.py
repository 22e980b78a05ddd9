"""Write tests/vectors/token_ids.json: what llama.cpp makes of 10,000 lines with SmolLM2's file.

    python -m scripts.vectors.tokens.run LIBRARIES FILE.gguf

LIBRARIES: a folder of llama.cpp's shared libraries (``libllama``, ``libggml``, ``libggml-base`` and
those of its processors), such as ``bins/linux-x64`` of the npm package @node-llama-cpp/linux-x64.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from scripts.paths import ROOT
from scripts.vectors.tokens.ids import digest, written
from scripts.vectors.tokens.lines import BLOCKS, block
from scripts.vectors.tokens.llama import LlamaTokenizer

PATH = ROOT / "tests" / "vectors" / "token_ids.json"
# Blocks whose ids are all in the file, so that a difference can be read.
_WHOLE = 3


def main() -> None:
    parser = argparse.ArgumentParser(description="Write token ids as llama.cpp makes them.")
    parser.add_argument("libraries", type=Path)
    parser.add_argument("file", type=Path)
    given = parser.parse_args()
    tokenizer = LlamaTokenizer(given.libraries.resolve(), given.file)
    blocks = [[tokenizer.encode(line) for line in block(number)] for number in range(BLOCKS)]
    vectors = {
        "lines": [written(ids) for made in blocks[:_WHOLE] for ids in made],
        "blocks": [digest(made) for made in blocks],
    }
    PATH.write_text(json.dumps(vectors, indent=1) + "\n", encoding="ascii")
    print(f"{PATH.relative_to(ROOT)}: {PATH.stat().st_size} bytes")


if __name__ == "__main__":
    main()
