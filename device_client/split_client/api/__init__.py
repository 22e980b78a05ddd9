"""Split inference from Python::

    from split_client import SplitClient

    with SplitClient("http://127.0.0.1:8095") as client:
        for piece in client.chat([{"role": "user", "content": "What is split inference?"}]):
            print(piece, end="", flush=True)

:class:`SplitClient` is synchronous and meant for one thread; only :meth:`SplitClient.cancel` may be
called from others and from signal handlers. :class:`AsyncSplitClient` is the same for programs with
an event loop.
"""

from split_client.adapters.choice import AdapterInfo
from split_client.adapters.masks import MaskStats
from split_client.api.asked import SamplingWords
from split_client.api.asynchronous import AsyncSplitClient
from split_client.api.client import SplitClient
from split_client.api.replies import AsyncChatSession, AsyncReply
from split_client.api.stats import ClientStats
from split_client.api.tool_run import ToolRun
from split_client.chat.brightness.places import LookedAt, Looks
from split_client.chat.brightness.view import BrightToken, ChatBrightness
from split_client.chat.conversation import Message
from split_client.chat.reply import Reply, ReplyStats
from split_client.chat.session import ChatSession
from split_client.chat.steering.tokens import Alternative, ReplyToken
from split_client.chat.verifying import Record, Verified
from split_client.generation.sampling.params import SamplingParams
from split_client.grammar.form import Choice, Gbnf, JsonObject, JsonSchema, Lark, Regex
from split_client.model.forgetting import Forgotten
from split_client.noise.settings import NoiseSettings
from split_client.redaction.settings import RedactionSettings
from split_client.tools.call import ToolCall
from split_client.tools.tool import Tool
from split_client.transport.served.listing import ServedModel
from split_client.transport.server_cache import DiskCache, Purged, ServerCache
from split_wire.attention import AttentionRequest, AttentionWeights

__all__ = [
    "AdapterInfo",
    "Alternative",
    "AsyncChatSession",
    "AsyncReply",
    "AsyncSplitClient",
    "AttentionRequest",
    "AttentionWeights",
    "BrightToken",
    "ChatBrightness",
    "ChatSession",
    "Choice",
    "ClientStats",
    "DiskCache",
    "Forgotten",
    "Gbnf",
    "JsonObject",
    "JsonSchema",
    "Lark",
    "LookedAt",
    "Looks",
    "MaskStats",
    "Message",
    "NoiseSettings",
    "Purged",
    "Record",
    "RedactionSettings",
    "Regex",
    "Reply",
    "ReplyStats",
    "ReplyToken",
    "SamplingParams",
    "SamplingWords",
    "ServedModel",
    "ServerCache",
    "SplitClient",
    "Tool",
    "ToolCall",
    "ToolRun",
    "Verified",
]
