"""Ray Serve's file, by Serve's own schema."""

from __future__ import annotations

import importlib.util

from scripts.deploying.part import NotHere
from scripts.paths import ROOT

FILE = ROOT / "deploy" / "ray.yaml"


def check() -> str:
    """Raises PartFailed, NotHere."""
    if not FILE.is_file():
        raise NotHere("no file for Ray Serve is shipped")
    if importlib.util.find_spec("ray") is None:
        raise NotHere("ray is not installed (pip install 'gatelink[ray]')")
    raise NotHere("not written")
