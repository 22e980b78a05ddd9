"""Surrogates within a bare address, which renderers make a link of."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from split_client.redaction.rules import rules

# Characters behind a surrogate that may belong to an address; what is longer counts as one.
MOST_BEHIND: Final = 256
_BEHIND: Final = re.compile("[A-Za-z0-9.!#$%&'*+/=?^_`{|}~:\\-]*")
_SPACE: Final = " \t\n\r"
_MAILBOX: Final = re.compile("[A-Za-z0-9._%+\\-]@")
_DOMAIN: Final = re.compile("[A-Za-z0-9\\-]\\.[A-Za-z]{2,24}[/?#:]")
_GOES_ON: Final = re.compile("[^/?#]*\\.[A-Za-z]{2,24}[/?#]")
_LONGER_DOMAIN: Final = re.compile("\\.+[A-Za-z0-9]|[A-Za-z0-9\\-]")


def goes_on(behind: str) -> bool:
    """Whether the domain of a mailbox is longer than its surrogate: one of somebody else."""
    return _LONGER_DOMAIN.match(behind) is not None


def makes_address(behind: str) -> bool:
    """Whether what follows a surrogate makes an address of it."""
    run = _BEHIND.match(behind).group()  # type: ignore[union-attr]
    if len(run) >= MOST_BEHIND or "//" in run:
        return True
    return behind.startswith("@", len(run)) or _GOES_ON.match(run) is not None


def begins(run: str, at: int = 0) -> bool:
    """Whether an address begins at ``at`` or behind in ``run``, which has no white space."""
    return (
        run.find("//", at) >= 0
        or run.find("\\\\", at) >= 0
        or _MAILBOX.search(run, at) is not None
        or _DOMAIN.search(run, at) is not None
        or _scheme().search(run, at) is not None
    )


def run_at_end(text: str) -> str:
    """The characters that ``text`` ends with since its last white space."""
    return text[1 + max(map(text.rfind, _SPACE)) :]


def is_settled(behind: str) -> bool:
    """Whether no character that may still come behind makes another address of it."""
    run = len(_BEHIND.match(behind).group())  # type: ignore[union-attr]
    return run < len(behind) or run >= MOST_BEHIND


@cache
def _scheme() -> re.Pattern[str]:
    listed = "|".join(re.escape(each) for each in (*rules()["schemes"], "www."))
    return re.compile(f"(?<![A-Za-z0-9])(?:{listed})", re.IGNORECASE)
