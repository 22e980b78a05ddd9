"""Parts of the lock: one file of requirements each, with a version and hashes for every package.

A part holds what it adds to ``base``, which every installation has. What only torch needs is in two
parts of its own, of which an installation takes one: ``torch`` for the build that a package index
has (on Linux with its CUDA libraries), ``torch-cpu`` for the one without.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

EXTRAS: Final = ("server", "grammar", "he", "llama", "ray", "bench", "audit", "dev")
GROUPS: Final = ("build", "tools")
TORCH, TORCH_CPU = "torch", "torch-cpu"
NAMES: Final = ("base", *EXTRAS, TORCH, TORCH_CPU, *GROUPS)
_HEADER = "# Made by scripts/lock from pyproject.toml; change that, and make it again.\n"
_PIN = re.compile(r"^([a-z0-9][a-z0-9.-]*)==([^ ;\\]+)(?: ; ([^\\]+?))?(?: \\)?$")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Pin:
    """One package: ``marker`` says where it is installed, None everywhere; ``hashes`` in hex."""

    name: str
    version: str
    marker: str | None
    hashes: tuple[str, ...]

    def lines(self) -> str:
        """As a file of requirements has it."""
        where = f" ; {self.marker}" if self.marker else ""
        hashes = "".join(f" \\\n    --hash=sha256:{value}" for value in self.hashes)
        return f"{self.name}=={self.version}{where}{hashes}\n"

    @property
    def on_linux_alone(self) -> bool:
        """Whether only Linux has it, as with everything that only CUDA needs."""
        return "sys_platform == 'linux'" in (self.marker or "")


def parse(text: str) -> list[Pin]:
    """The pins of a file of requirements. Raises ValueError for a line of any other kind."""
    pins = []
    for line in text.replace("\\\n", " ").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        head = line.partition(" --hash")[0].strip()
        found, hashes = _PIN.match(head), tuple(_HASH.findall(line))
        if found is None or not hashes:
            raise ValueError(f"not a pinned requirement with hashes: {head}")
        pins.append(Pin(found[1], found[2], found[3], hashes))
    return pins


def render(pins: list[Pin], comments: tuple[str, ...] = ()) -> str:
    """A file of requirements; ``comments`` stand above them."""
    notes = "".join(f"# {comment}\n" for comment in comments)
    return _HEADER + notes + "".join(pin.lines() for pin in pins)


def added(pins: list[Pin], base: list[Pin]) -> list[Pin]:
    """Those of ``pins`` that are not in ``base`` in the same way."""
    known = set(base)
    return [pin for pin in pins if pin not in known]
