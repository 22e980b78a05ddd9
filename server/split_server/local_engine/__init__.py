"""A model in this process, from Python: the parts of a server, and no sockets."""

from split_server.local_engine.engine import Engine
from split_server.local_engine.errors import EndsUnavailable, EngineClosed, PromptInvalid
from split_server.local_engine.result import Result

__all__ = ["EndsUnavailable", "Engine", "EngineClosed", "PromptInvalid", "Result"]
