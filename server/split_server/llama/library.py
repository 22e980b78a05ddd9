"""The library: llama-cpp-python, and whether it is one whose structures are known here.

A structure that differs from what the compiled library has would be read at the wrong places, so a
library that is older, newer or somebody's own is refused before anything is given to it.
"""

from __future__ import annotations

import ctypes
import importlib
import threading
from collections import deque
from dataclasses import dataclass
from typing import Any

from split_server.errors import EngineUnusable

PACKAGE = "llama-cpp-python"
INSTALL = "pip install 'gatelink[llama]'"
# Fields in their order and bytes of each structure, as of llama-cpp-python 0.3.36
# (https://github.com/ggml-org/llama.cpp/blob/master/include/llama.h).
_STRUCTURES = {
    "llama_batch": (56, "n_tokens token embd pos n_seq_id seq_id logits"),
    "llama_model_params": (
        80,
        "devices tensor_buft_overrides n_gpu_layers split_mode load_mode lazy_mode main_gpu "
        "tensor_split progress_callback progress_callback_user_data kv_overrides vocab_only "
        "check_tensors use_extra_bufts no_host no_alloc load_mtp",
    ),
    "llama_context_params": (
        160,
        "n_ctx n_batch n_ubatch n_seq_max n_rs_seq n_outputs_max n_outputs_max_per_seq n_threads "
        "n_threads_batch ctx_type rope_scaling_type pooling_type attention_type flash_attn_type "
        "rope_freq_base rope_freq_scale yarn_ext_factor yarn_attn_factor yarn_beta_fast "
        "yarn_beta_slow yarn_orig_ctx defrag_thold cb_eval cb_eval_user_data type_k type_v "
        "abort_callback abort_callback_data embeddings offload_kqv no_perf op_offload swa_full "
        "kv_unified samplers n_samplers ctx_other",
    ),
}
# What the library itself sets: a layout other than the one above shows other values.
_DEFAULTS: dict[str, dict[str, Any]] = {
    "llama_model_default_params": {
        "n_gpu_layers": -1,
        "load_mode": -1,
        "vocab_only": False,
        "use_extra_bufts": True,
    },
    "llama_context_default_params": {
        "n_ctx": 512,
        "n_batch": 2048,
        "n_ubatch": 512,
        "n_seq_max": 1,
        "pooling_type": -1,
        "flash_attn_type": -1,
        "rope_freq_base": 0.0,
        "type_k": 1,
        "type_v": 1,
        "embeddings": False,
        "offload_kqv": True,
        "kv_unified": False,
        "n_samplers": 0,
    },
}
_KEPT_ERRORS = 4
_ERROR_LEVEL = 4
_once = threading.Lock()
_loaded: list[Library] = []


@dataclass(frozen=True)
class Library:
    """``functions``: the module of the binding, with llama.cpp's functions under their names;
    ``raw``: the shared library, for what that does not name; ``version``: of the package;
    ``errors``: the last lines that the library complained with.
    """

    functions: Any
    raw: ctypes.CDLL
    version: str
    errors: deque[str]
    # What the library calls must live as long as it.
    _log: Any

    def complaint(self) -> str:
        """What went wrong last, in the library's words; told once."""
        lines = list(self.errors)
        self.errors.clear()
        return "; ".join(lines) or "no reason was given"


def open_library() -> Library:
    """The library, once for the process. Raises EngineUnusable."""
    with _once:
        if not _loaded:
            _loaded.append(_opened())
        return _loaded[0]


def _opened() -> Library:
    module, version = _imported()
    check_structures(module, version)
    raw = module._lib
    _declare(raw)
    errors: deque[str] = deque(maxlen=_KEPT_ERRORS)
    log = _silenced(module, errors)
    module.llama_backend_init()
    check_defaults(module, version)
    return Library(module, raw, version, errors, log)


def _imported() -> tuple[Any, str]:
    try:
        package = importlib.import_module("llama_cpp")
        return importlib.import_module("llama_cpp.llama_cpp"), str(package.__version__)
    except ModuleNotFoundError as error:
        raise EngineUnusable(
            f"--engine llama needs {PACKAGE}, and {error.name} is not installed; {INSTALL} "
            "builds it, which takes a C++ compiler and some minutes"
        ) from error
    # A shared library that is not there, or is of another machine; a package without a version.
    except (ImportError, OSError, RuntimeError, AttributeError) as error:
        raise EngineUnusable(
            f"{PACKAGE} is installed and cannot be loaded ({error}); {INSTALL} --force-reinstall "
            "--no-binary llama-cpp-python builds it for this machine"
        ) from error


def check_structures(module: Any, version: str) -> None:
    """Raise EngineUnusable where the binding declares others than those that are known."""
    for name, (size, fields) in _STRUCTURES.items():
        found = getattr(module, name, None)
        if found is None:
            raise _foreign(version, f"it has no {name}")
        if [field[0] for field in found._fields_] != fields.split():
            raise _foreign(version, f"its {name} has other fields")
        if ctypes.sizeof(ctypes.c_void_p) == 8 and ctypes.sizeof(found) != size:
            raise _foreign(version, f"its {name} has {ctypes.sizeof(found)} bytes and not {size}")


def check_defaults(module: Any, version: str) -> None:
    """Raise EngineUnusable where the compiled library has another layout than the binding."""
    for name, values in _DEFAULTS.items():
        found = getattr(module, name)()
        for field, value in values.items():
            if getattr(found, field) != value:
                raise _foreign(
                    version, f"the compiled library sets {field} to {getattr(found, field)!r}"
                )


def _foreign(version: str, why: str) -> EngineUnusable:
    return EngineUnusable(
        f"{PACKAGE} {version} is not one that this server knows: {why}; {INSTALL} installs one"
    )


def _silenced(module: Any, errors: deque[str]) -> Any:
    """Keep the library's messages, which would go to standard error, and of them the errors."""

    def heard(level: int, text: bytes, _: Any) -> None:
        if level >= _ERROR_LEVEL:
            errors.append(text.decode("utf-8", "replace").strip()[:200])

    callback = module.llama_log_callback(heard)
    module.llama_log_set(callback, ctypes.c_void_p())
    return callback


def _declare(raw: ctypes.CDLL) -> None:
    """Signatures of ggml.h and ggml-backend.h, for the attention of a pass."""
    raw.ggml_get_name.argtypes, raw.ggml_get_name.restype = [ctypes.c_void_p], ctypes.c_char_p
    raw.ggml_nelements.argtypes, raw.ggml_nelements.restype = [ctypes.c_void_p], ctypes.c_int64
    raw.ggml_backend_tensor_get.argtypes = [
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_size_t,
    ]
    raw.ggml_backend_tensor_get.restype = None
