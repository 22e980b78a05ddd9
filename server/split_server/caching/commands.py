"""``split-server cache list``, ``purge`` and ``verify``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from split_server.caching.asking import Asking, Refused
from split_server.caching.prompts_file import read_prompts
from split_server.caching.words import listed, purged, verified
from split_server.serving.config import ServerConfig
from split_settings import SettingsError, add_arguments

PATH, VERIFY = "/api/v1/cache", "/v1/cache/verify"
ACTIONS = ("list", "purge", "verify")
_FAILED = 1
# A check computes its prompts several times; on a processor that is minutes.
_SECONDS, _VERIFY_SECONDS = 10.0, 1800.0


def add_cache_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Its parser."""
    cache = commands.add_parser(
        "cache",
        help="what the server of this machine keeps for later sessions of a token",
        description="list tells how much the server of this machine keeps for later sessions, "
        "purge deletes it, verify checks that it gives what computing gives. Settings as of serve.",
    )
    cache.add_argument("action", choices=ACTIONS)
    cache.add_argument("--salt", help="purge: what has this cache_salt alone", metavar="SALT")
    cache.add_argument(
        "--name", help="whose token of --token-file asks (default: the only one)", metavar="NAME"
    )
    cache.add_argument(
        "--prompts",
        type=Path,
        help="verify: prompts of this file in place of its own, one JSON object a line with prompt "
        "or messages",
        metavar="FILE",
    )
    cache.add_argument("--json", action="store_true", help="the server's answer as it came")
    add_arguments(cache, ServerConfig)


def run_cache(
    given: argparse.Namespace, config: ServerConfig, print_lines: Callable[[Iterable[str]], int]
) -> int:
    """Ask and tell; 1 where a check ended with problems.

    Raises SettingsError, PromptsFileInvalid and what :class:`Asking` raises.
    """
    action: str = given.action
    if given.salt is not None and action != "purge":
        raise SettingsError("--salt belongs to split-server cache purge")
    if given.prompts is not None and action != "verify":
        raise SettingsError("--prompts belongs to split-server cache verify")
    if given.name is not None and config.token_file is None:
        raise SettingsError("--name belongs to --token-file")
    # Before anything is sent.
    prompts = None if given.prompts is None else read_prompts(given.prompts)
    asking = Asking(config, given.name, _VERIFY_SECONDS if action == "verify" else _SECONDS)
    found = _answered(asking, action, given.salt, prompts)
    try:
        lines = [json.dumps(found)] if given.json else [*_lines(asking.url, action, found)]
    # Of another version, or nothing of ours.
    except (LookupError, TypeError, ValueError):
        raise Refused(f"{asking.url}: its answer is of another form") from None
    print_lines(lines)
    return _FAILED if action == "verify" and found.get("ok") is not True else 0


def _answered(
    asking: Asking, action: str, salt: str | None, prompts: list[dict[str, Any]] | None
) -> dict[str, Any]:
    if action == "list":
        return asking.answer("GET", PATH)
    if action == "purge":
        return asking.answer("DELETE", PATH, None if salt is None else {"cache_salt": salt})
    return asking.answer("POST", VERIFY, {} if prompts is None else {"prompts": prompts})


def _lines(url: str, action: str, found: dict[str, Any]) -> Iterator[str]:
    if action == "list":
        return listed(url, found)
    return purged(found) if action == "purge" else verified(found)
