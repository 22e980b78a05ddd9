"""Variables that look like a setting and are none: mistyped ones are told, not passed over."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping

from split_settings.declare import section_of, settings_of
from split_settings.visible import visible

_MOST_TOLD = 8
_LONGEST = 80


def unread_variables(
    classes: tuple[type[object], ...], environ: Mapping[str, str]
) -> Iterator[str]:
    """A warning for each variable of the classes' section that no setting of theirs reads.

    Names only: what a mistyped one holds may be a secret. At most eight are told.
    """
    prefix = f"SPLIT_{section_of(classes[0])}_".upper()
    settings = [setting for cls in classes for setting in settings_of(cls)]
    known = {one.name.upper() for one in settings if one.details.tables is None}
    names = {name: name.removeprefix(prefix) for name in environ if name.startswith(prefix)}
    unread = sorted(name for name, ending in names.items() if ending not in known)
    for name in unread[:_MOST_TOLD]:
        near = difflib.get_close_matches(names[name], known, 1)
        hint = f"did you mean {prefix}{near[0]}?" if near else "--help lists the settings"
        yield f"the variable {visible(name)[:_LONGEST]} is no setting; {hint}"
