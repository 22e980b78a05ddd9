"""The tokenizer of llama.cpp, through the C functions of a library that was built elsewhere."""

from __future__ import annotations

import ctypes
from pathlib import Path

_LIBRARIES = ("libggml-base*.so*", "libggml.*so*", "libllama.*so*")
# What llama_model_params takes and more: it is passed by value, last and in memory, and what
# follows it is not read.
_PARAMETERS = 256
_MOST = 100_000


class _Parameters(ctypes.Structure):
    _fields_ = (("opaque", ctypes.c_char * _PARAMETERS),)


class LlamaTokenizer:
    """``folder``: of llama.cpp's shared libraries; ``file``: a GGUF. Stays open to the end.

    Raises OSError where a library or the file is missing.
    """

    def __init__(self, folder: Path, file: Path) -> None:
        base, ggml, self._llama = (_library(folder, name) for name in _LIBRARIES)
        self._needed = base
        ggml.ggml_backend_load_all_from_path.argtypes = [ctypes.c_char_p]
        ggml.ggml_backend_load_all_from_path(str(folder).encode())
        llama = self._llama
        llama.llama_model_default_params.restype = _Parameters
        llama.llama_model_load_from_file.argtypes = [ctypes.c_char_p, _Parameters]
        llama.llama_model_load_from_file.restype = ctypes.c_void_p
        llama.llama_model_get_vocab.argtypes = [ctypes.c_void_p]
        llama.llama_model_get_vocab.restype = ctypes.c_void_p
        llama.llama_tokenize.argtypes = [
            *(ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32),
            *(ctypes.POINTER(ctypes.c_int32), ctypes.c_int32, ctypes.c_bool, ctypes.c_bool),
        ]
        llama.llama_backend_init()
        given = llama.llama_model_default_params()
        model = llama.llama_model_load_from_file(str(file).encode(), given)
        if model is None:
            raise FileNotFoundError(f"llama.cpp cannot read {file}")
        self._vocabulary = llama.llama_model_get_vocab(model)
        self._ids = (ctypes.c_int32 * _MOST)()

    def encode(self, text: str) -> list[int]:
        """The ids of ``text``, control tokens in it found, none put around it."""
        given = text.encode()
        found = self._llama.llama_tokenize(
            self._vocabulary, given, len(given), self._ids, _MOST, False, True
        )
        if found < 0:
            raise ValueError("the text has more tokens than there is room for")
        return list(self._ids[:found])


def _library(folder: Path, pattern: str) -> ctypes.CDLL:
    found = sorted(folder.glob(pattern))
    if not found:
        raise FileNotFoundError(f"{folder} has no {pattern}")
    return ctypes.CDLL(str(found[0]), mode=ctypes.RTLD_GLOBAL)
