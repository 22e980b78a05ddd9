"""A model in this process, from Python: the parts of a server, and no sockets."""

from split_server.engine.model.openmp import prepare_openmp

# The engine imports torch, whose libraries read it then.
prepare_openmp()

from split_server.local_engine.engine import Engine  # noqa: E402
from split_server.local_engine.errors import (  # noqa: E402
    EndsUnavailable,
    EngineClosed,
    PromptInvalid,
)
from split_server.local_engine.result import Result  # noqa: E402

__all__ = ["EndsUnavailable", "Engine", "EngineClosed", "PromptInvalid", "Result"]
