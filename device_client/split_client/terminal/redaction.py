"""Redaction as the flags ask for it, and in words."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from split_client.chat.redacting.redaction import ChatRedaction
from split_client.config import ReplyConfig
from split_client.owner_file import reason
from split_client.redaction.errors import RedactionInvalid
from split_client.redaction.kinds import GROUPS, Kind
from split_client.redaction.rules import regions
from split_client.redaction.settings import USUAL, RedactionSettings, names_in_lines
from split_client.terminal.output.words import counted
from split_client.terminal.paths import expanded
from split_client.terminal.sampling import SettingInvalid
from split_files import read_regular

MOST_BYTES: Final = 1 << 20
_LOCALE: Final = re.compile("[a-z]{2,3}_([A-Z]{2})\\b")
_WORDS: Final[dict[Kind, str]] = {
    "email": "e-mail address",
    "iban": "IBAN",
    "card": "card",
    "id": "national id",
    "phone": "phone number",
    "date": "date",
    "street": "street",
    "place": "place",
    "given": "first name",
    "family": "surname",
}


def redaction_from(
    config: ReplyConfig, environ: Mapping[str, str] = os.environ
) -> RedactionSettings | None:
    """None without ``--redact``.

    Raises SettingInvalid for a file that cannot be read, and for what cannot be set.
    """
    if not config.redact:
        if config.redact_names or config.redact_kinds or config.redact_region:
            raise SettingInvalid("--redact-names, -kinds and -region need --redact")
        return None
    names = () if config.redact_names is None else _names(config.redact_names)
    groups = frozenset(config.redact_kinds) or USUAL
    wanted = tuple(region.upper() for region in config.redact_region)
    try:
        return RedactionSettings(groups, wanted or region_of(environ), names)
    except RedactionInvalid as error:
        raise SettingInvalid(str(error)) from error


def region_of(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The country of the locale, where it names one."""
    for name in ("LC_ALL", "LC_TELEPHONE", "LANG"):
        if match := _LOCALE.match(environ.get(name, "")):
            return (match.group(1),) if match.group(1) in regions() else ()
    return ()


def redaction_line(redaction: ChatRedaction) -> str:
    """Whether it is on, and what for."""
    settings = redaction.settings
    if not redaction.on or settings is None:
        return "redaction is off: the model, and so the server, is given what you write"
    kinds = ", ".join(group for group in GROUPS if group in settings.groups)
    where = ", ".join(settings.regions) or "none"
    return (
        f"redaction is on for {kinds} (regions: {where}; {counted(len(settings.names), 'name')} of "
        "your own); names that it does not know go out as they are"
    )


def counted_kinds(kinds: Iterable[Kind]) -> str:
    """As "2 first names, 1 IBAN"."""
    counts = Counter(kinds)
    return ", ".join(counted(counts[kind], word) for kind, word in _WORDS.items() if counts[kind])


def word_of(kind: Kind) -> str:
    """The word for one value of the kind."""
    return _WORDS[kind]


def _names(path: Path) -> tuple[str, ...]:
    path = expanded(str(path))
    try:
        text = read_regular(path, MOST_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise SettingInvalid(f"--redact-names {path}: {reason(error)}") from error
    except UnicodeDecodeError:
        raise SettingInvalid(f"--redact-names {path}: it is no UTF-8 text") from None
    return names_in_lines(text.splitlines())
