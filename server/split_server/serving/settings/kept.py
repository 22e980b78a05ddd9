"""Settings of what is kept of computed rows for later sessions."""

from __future__ import annotations

from pathlib import Path

from split_server.serving.listen_config import ACCESS
from split_server.serving.settings.limits import LIMITS
from split_server.sessions.cache_groups import group_text
from split_settings import option, settings
from split_wire.splice import MOST_BLEND


@settings("server", slots=False)
class KeptConfig:
    """A base of the settings of the server of a model."""

    kv_reuse: str = option(
        "exact",
        help="keep keys and values that were computed for later sessions of the same token, and "
        "compute them only once; off keeps nothing",
        choices=("exact", "off"),
    )
    kv_pool_dtype: str = option(
        "model",
        help="what is kept may be held as; int8: of those that ask for it as whole numbers of 8 "
        "bits, half the bytes of bfloat16 and a quarter of float32, and no longer exact; everybody "
        "else's stays in the model's dtype",
        choices=("model", "int8"),
    )
    kv_pool_bytes: int = option(
        0,
        help="bytes of what is kept for later sessions; 0 takes up to half of the caches' bytes, "
        "as far as sessions leave them",
        minimum=0,
        group=LIMITS,
    )
    kv_pool_bytes_per_principal: int = option(
        0,
        help="bytes of that of one token; 0 takes half of all",
        minimum=0,
        group=LIMITS,
    )
    kv_pool_ttl: float = option(
        3600.0,
        help="seconds after which what is kept and not used is dropped",
        minimum=1,
        maximum=1e7,
        group=LIMITS,
    )
    kv_share: str = option(
        "off",
        help="auto: sessions of one token that begin with the same long prompt hold it once and "
        "read it together, from as many of them on as measures as a gain at the start",
        choices=("off", "auto"),
    )
    kv_approximate: str = option(
        "off",
        help="on: devices may have computed what differs from the plain computation: rows behind "
        "an edit of a prompt that move to new places, documents that are known from other texts, "
        "replies that do not see hidden parts of a chat; nothing does unless it is asked for, and "
        "replies say so",
        choices=("off", "on"),
    )
    kv_groups: tuple[str, ...] = option(
        (),
        help="group of tokens and paired devices that may share the beginnings of their prompts, "
        "such as family=ann+bob; a device asks for it, nothing is shared without",
        metavar="NAME=PRINCIPAL+PRINCIPAL",
        parse=group_text,
        group=ACCESS,
    )
    kv_warm: Path | None = option(
        None,
        help="file of prompts, one JSON object with 'prompt' or 'messages' a line, that are "
        "computed at the start and kept for everybody",
        metavar="FILE",
    )
    kv_audit: float = option(
        0.001,
        help="share of what is kept and needed again that is computed all the same and compared, "
        "and of approximate replies that are computed plainly as well; what differs is dropped",
        minimum=0,
        maximum=1,
        group=LIMITS,
    )
    blend: float = option(
        0.0,
        help="where the OpenAI and Kobold APIs keep what lies behind an edit of their prompts: the "
        "share of it that is computed anew, where it differs most; about 0.15 is of use",
        minimum=0,
        maximum=MOST_BLEND,
    )
    kv_disk: Path | None = option(
        None,
        help="folder where what is kept is written as well, encrypted, so that it outlives this "
        "process and what memory holds; without one nothing is written",
        metavar="DIR",
    )
    kv_disk_bytes: int = option(
        8 << 30,
        help="bytes of --kv-disk; less where its file system has little left",
        minimum=1 << 20,
        group=LIMITS,
    )
    kv_disk_ttl: float = option(
        86_400.0,
        help="seconds after which what lies in --kv-disk and is not used is removed",
        minimum=1,
        maximum=1e8,
        group=LIMITS,
    )
