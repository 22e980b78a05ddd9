"""The device's side of split inference: the ends of a model, weights, transports, terminal.

What programs use can be imported from here; it is loaded when it is asked for.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from split_client.api import (
        AsyncSplitClient,
        Message,
        NoiseSettings,
        Reply,
        SamplingParams,
        SplitClient,
        Tool,
        ToolCall,
        ToolRun,
    )
    from split_client.errors import ClientError

__all__ = [
    "AsyncSplitClient",
    "ClientError",
    "Message",
    "NoiseSettings",
    "Reply",
    "SamplingParams",
    "SplitClient",
    "Tool",
    "ToolCall",
    "ToolRun",
]


def __getattr__(name: str) -> object:
    # Every command imports this package first, and most need neither model nor transport.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from split_client import api, errors

    return getattr(errors if name == "ClientError" else api, name)
