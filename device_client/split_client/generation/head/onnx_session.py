"""onnxruntime, where it has a wheel: sessions of one operator that share the machine."""

import os
from typing import Any


def onnxruntime() -> Any:
    """The package, imported so that it reports nothing to its makers; only here is it imported.

    Unless this variable is set before, its builds keep an identifier of the device and send events
    about the process, from the import on. Raises ImportError.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime as package

    return package


def onnxruntime_available() -> bool:
    """Whether onnxruntime can be imported here."""
    try:
        onnxruntime()
    except ImportError:
        return False
    return True


def default_threads() -> int:
    """Two at most: the product is bound by memory, and the machine may run a server too."""
    return min(2, os.cpu_count() or 1)


def session_options(threads: int) -> Any:
    """Options of a session that shares the machine: few threads, nothing kept between runs."""
    options = onnxruntime().SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 3
    # A spinning pool takes the cores of a server on the same machine between two tokens.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


def open_session(graph: bytes, options: Any) -> Any:
    """A session of the serialised ``graph`` on the CPU."""
    return onnxruntime().InferenceSession(graph, options, providers=["CPUExecutionProvider"])
