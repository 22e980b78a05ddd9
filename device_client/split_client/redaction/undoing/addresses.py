"""Surrogates within a bare address, which renderers make a link of."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from split_client.redaction.rules import rules

# Characters behind a surrogate that may belong to an address; what is longer counts as one.
MOST_BEHIND: Final = 256
_BEHIND: Final = re.compile("[A-Za-z0-9.!#$%&'*+/=?^_`{|}~:\\-]*")
_SPACE: Final = re.compile("[ \t\n\r]")
_MAILBOX: Final = re.compile("[A-Za-z0-9._%+\\-]@")
_DOMAIN: Final = re.compile("[A-Za-z0-9\\-]\\.[A-Za-z]{2,24}[/?#:]")
_GOES_ON: Final = re.compile("[^/?#]*\\.[A-Za-z]{2,24}[/?#]")
_LONGER_DOMAIN: Final = re.compile("\\.+[A-Za-z0-9]|[A-Za-z0-9\\-]")


def goes_on(behind: str) -> bool:
    """Whether the domain of a mailbox is longer than its surrogate: one of somebody else."""
    return _LONGER_DOMAIN.match(behind) is not None


def in_address(before: str, behind: str) -> bool:
    """``before``: what stands before a surrogate, from white space on; ``behind``: what follows."""
    return _begins(before) or _ends(behind)


def run_at_end(text: str) -> str:
    """The characters that ``text`` ends with since its last white space."""
    for match in reversed([*_SPACE.finditer(text)]):
        return text[match.end() :]
    return text


def is_settled(behind: str) -> bool:
    """Whether no character that may still come behind makes another address of it."""
    run = len(_BEHIND.match(behind).group())  # type: ignore[union-attr]
    return run < len(behind) or run >= MOST_BEHIND


def _begins(before: str) -> bool:
    return (
        "//" in before
        or "\\\\" in before
        or _MAILBOX.search(before) is not None
        or _DOMAIN.search(before) is not None
        or _scheme().search(before) is not None
    )


def _ends(behind: str) -> bool:
    run = _BEHIND.match(behind).group()  # type: ignore[union-attr]
    if len(run) >= MOST_BEHIND or "//" in run:
        return True
    return behind.startswith("@", len(run)) or _GOES_ON.match(run) is not None


@cache
def _scheme() -> re.Pattern[str]:
    listed = "|".join(re.escape(each) for each in (*rules()["schemes"], "www."))
    return re.compile(f"(?<![A-Za-z0-9])(?:{listed})", re.IGNORECASE)
