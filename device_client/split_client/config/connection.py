"""Settings of the way to the server, and of the folder of its weights."""

from __future__ import annotations

from pathlib import Path

from split_client.transport.endpoint import DEFAULT_URL
from split_settings import option, settings
from split_wire.splice import MOST_BLEND


@settings("client")
class ConnectionConfig:
    """Settings of the way to the server, and of the folder of its weights."""

    url: str = option(
        DEFAULT_URL, help="the server or relay", metavar="URL", group="connection", short="-u"
    )
    model: str | None = option(
        None,
        help="one of the server's models, as split-client models lists them (default: its first)",
        metavar="SERVED_MODEL",
        group="connection",
    )
    token: str | None = option(
        None,
        help="bearer token; better in SPLIT_CLIENT_TOKEN, or typed when asked",
        metavar="TOKEN",
        group="connection",
        secret=True,
    )
    transport: str = option(
        "auto",
        help="what carries frames; auto takes HTTP where a WebSocket does not get through",
        choices=("auto", "websocket", "http"),
        group="connection",
    )
    server_cache: str = option(
        "exact",
        help="exact lets the server keep what it computed of a chat for the next session, for this "
        "user alone; int8 also in less memory, with a small error that is told; approximate also "
        "keeps what lies behind an edit of a prompt, and documents by what they say, with an error "
        "that is told; off has it keep nothing",
        choices=("exact", "int8", "approximate", "off"),
        group="connection",
    )
    blend: float = option(
        0.0,
        help="with --server-cache approximate: the share of what an edit keeps behind it that is "
        "computed anew, where it differs most; all of it then travels; 0.15 is of use",
        minimum=0,
        maximum=MOST_BLEND,
        group="connection",
    )
    verify: str = option(
        "audit",
        help="with --server-cache approximate: full computes each reply that stands on moved rows "
        "plainly as well and tells how far off it is; audit does so with a share of them",
        choices=("audit", "full"),
        group="connection",
    )
    verify_share: float = option(
        0.01,
        help="that share",
        minimum=0,
        maximum=1,
        group="connection",
    )
    cache_group: str | None = option(
        None,
        help="group of the server's (its --kv-groups) that may find the beginnings of chats, such "
        "as one for a person's own devices; not with noise",
        metavar="NAME",
        group="connection",
    )
    share_until: int = option(
        0,
        help="positions of a chat that --cache-group may find",
        minimum=0,
        maximum=(1 << 53) - 1,
        group="connection",
    )
    cache: Path | None = option(
        None,
        help="folder for weights (default: SPLIT_CACHE, else the platform's cache folder)",
        metavar="DIR",
        group="connection",
    )
