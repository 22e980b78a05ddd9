"""The adapter that an ``expert_name`` means."""

from __future__ import annotations

from collections.abc import Collection

_SUFFIX = "_expert"


def adapter_of(expert: str | None, adapters: Collection[str]) -> str | None:
    """The one of ``adapters`` that ``expert`` names, None for the base model.

    Clients name the adapter ``banking`` ``banking`` or ``banking_expert``; one that is not loaded
    means the base model, as it always has in this protocol.
    """
    if expert is None or expert in adapters:
        return expert
    name = expert.removesuffix(_SUFFIX)
    return name if name in adapters else None
