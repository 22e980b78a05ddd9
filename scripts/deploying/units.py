"""The systemd units: accepted by systemd, and exposed to little."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from scripts.deploying.part import PartFailed, passes, require
from scripts.paths import ROOT

# Of 10, by systemd-analyze.
MOST_EXPOSED = 2.0
_INSTALLED = re.compile(r"/opt/gatelink/\.venv/bin/[\w-]+")
_INSTANCE = "01"


def check() -> str:
    """All of ``deploy/*.service``. Raises PartFailed, NotHere."""
    require("systemd-analyze", "the package systemd")
    exposed = [f"{unit.stem} {_checked(unit)}" for unit in sorted(ROOT.glob("deploy/*.service"))]
    return f"exposure {', '.join(exposed)}, at most {MOST_EXPOSED}"


def _checked(unit: Path) -> float:
    """The exposure of a unit that systemd accepts."""
    with tempfile.TemporaryDirectory() as folder:
        # Its program must exist where it is checked, and a template needs an instance.
        copy = Path(folder) / unit.name.replace("@.", f"@{_INSTANCE}.")
        copy.write_text(_INSTALLED.sub(sys.executable, unit.read_text()))
        said = passes(["systemd-analyze", "verify", str(copy)])
        if complaints := [line for line in said.splitlines() if unit.stem in line]:
            raise PartFailed("\n".join(complaints))
        said = passes(["systemd-analyze", "security", "--offline=true", str(copy)])
    found = re.search(r"exposure level for \S+: ([\d.]+)", said)
    if found is None:
        raise PartFailed(f"systemd-analyze says no exposure of {unit.name}")
    if float(found[1]) > MOST_EXPOSED:
        raise PartFailed(f"{unit.name} has an exposure of {found[1]}")
    return float(found[1])
