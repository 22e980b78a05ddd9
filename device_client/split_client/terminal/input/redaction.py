"""Redaction as the flags ask for it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from split_client.config.reply import ReplyConfig
from split_client.owner_file import reason
from split_client.redaction.errors import RedactionInvalid
from split_client.redaction.rules import regions
from split_client.redaction.settings import USUAL, RedactionSettings, names_in_lines
from split_files import read_regular

MOST_BYTES: Final = 1 << 20
_LOCALE: Final = re.compile("[a-z]{2,3}_([A-Z]{2})\\b")


def redaction_from(
    config: ReplyConfig, environ: Mapping[str, str] = os.environ
) -> RedactionSettings | None:
    """None without ``--redact``.

    Raises RedactionInvalid for a file that cannot be read, and for what cannot be set.
    """
    if not config.redact:
        if config.redact_names or config.redact_kinds or config.redact_region:
            raise RedactionInvalid("--redact-names, -kinds and -region need --redact")
        return None
    names = () if config.redact_names is None else _names(config.redact_names)
    groups = frozenset(config.redact_kinds) or USUAL
    wanted = tuple(region.upper() for region in config.redact_region)
    return RedactionSettings(groups, wanted or region_of(environ), names)


def region_of(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The country of the locale, where it names one."""
    for name in ("LC_ALL", "LC_TELEPHONE", "LANG"):
        if match := _LOCALE.match(environ.get(name, "")):
            return (match.group(1),) if match.group(1) in regions() else ()
    return ()


def _names(path: Path) -> tuple[str, ...]:
    path = path.expanduser()
    try:
        text = read_regular(path, MOST_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise RedactionInvalid(f"--redact-names {path}: {reason(error)}") from error
    except UnicodeDecodeError:
        raise RedactionInvalid(f"--redact-names {path}: it is no UTF-8 text") from None
    return names_in_lines(text.splitlines())
