"""A GGUF file with quantised matrices.

``python -m scripts.bench.peers.gguf_quantized F16 FILE TYPE``

Runs in the environment of llama-cpp-python, with llama.cpp's own quantiser. Rows whose width is no
multiple of 256 cannot be of a K type: llama.cpp takes one of 32 values a block for them, q5_0 for
q4_K, as it does for everybody.
"""

from __future__ import annotations

import sys
from pathlib import Path

import llama_cpp

_TYPES = {
    "q8_0": llama_cpp.LLAMA_FTYPE_MOSTLY_Q8_0,
    "q4_0": llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_0,
    "q4_K": llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_K_S,
}


def quantise(source: Path, target: Path, kind: str) -> None:
    """Write ``target`` from the f16 file ``source``. Raises RuntimeError."""
    parameters = llama_cpp.llama_model_quantize_default_params()
    parameters.ftype = _TYPES[kind]
    if llama_cpp.llama_model_quantize(str(source).encode(), str(target).encode(), parameters):
        raise RuntimeError(f"llama.cpp cannot make {kind} of {source}")


if __name__ == "__main__":
    quantise(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
