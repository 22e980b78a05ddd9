"""Builds of torch without CUDA: their names and hashes, as the page of their index has them.

They have the version of the build that package indexes have and a label after it (PEP 440's local
version), and no package index of the usual kind has them.
"""

from __future__ import annotations

import re
import urllib.request
from typing import Final
from urllib.parse import unquote

from scripts.locking.parts import Pin, parse

LABEL: Final = "+cpu"
_MAX_PAGE = 16 << 20
_SECONDS = 60.0
_PYTHONS = ("cp311", "cp312", "cp313", "cp314")
_PLATFORMS = ("manylinux_2_28_aarch64", "manylinux_2_28_x86_64")
_LINK = re.compile(r'href="[^"#]*?([^"/#]+\.whl)#sha256=([0-9a-f]{64})"')
_NOTE = re.compile(r"^# ([0-9a-f]{64}) (\S+\.whl)$", re.MULTILINE)


class BuildsUnknown(Exception):
    """The hashes of this version are neither in the lock nor to be looked up."""


def looked_up(index: str, version: str) -> dict[str, str]:
    """SHA-256 by wheel of the builds of ``version``, from the index at the URL ``index``.

    Raises BuildsUnknown, OSError.
    """
    with urllib.request.urlopen(f"{index.rstrip('/')}/torch/", timeout=_SECONDS) as answer:
        page = answer.read(_MAX_PAGE).decode("utf-8")
    return in_page(page, version)


def in_page(page: str, version: str) -> dict[str, str]:
    """The same from the text of the page. Raises BuildsUnknown."""
    wanted = wheel_names(version)
    found = {unquote(name): digest for name, digest in _LINK.findall(page)}
    missing = [name for name in wanted if name not in found]
    if missing:
        raise BuildsUnknown(f"the index has no {missing[0]}")
    return {name: found[name] for name in wanted}


def kept(text: str, version: str) -> dict[str, str]:
    """The same from the part of the lock that is there. Raises BuildsUnknown."""
    builds = {name: digest for digest, name in _NOTE.findall(text)}
    pinned = {digest for pin in parse(text) if pin.name == "torch" for digest in pin.hashes}
    if sorted(builds) != wheel_names(version) or set(builds.values()) != pinned:
        raise BuildsUnknown(
            f"the lock has no builds of torch {version}{LABEL}; set TORCH_INDEX to the URL of the "
            "index that has them, to look up their hashes"
        )
    return builds


def wheel_names(version: str) -> list[str]:
    """The wheels that are locked, sorted."""
    return sorted(
        f"torch-{version}{LABEL}-{python}-{python}-{platform}.whl"
        for python in _PYTHONS
        for platform in _PLATFORMS
    )


def pin(version: str, builds: dict[str, str]) -> Pin:
    """The requirement of any of ``builds``."""
    hashes = tuple(sorted(builds.values()))
    return Pin("torch", version + LABEL, "sys_platform == 'linux'", hashes)


def notes(builds: dict[str, str]) -> tuple[str, ...]:
    """The comments that name them."""
    return tuple(f"{builds[name]} {name}" for name in sorted(builds))
