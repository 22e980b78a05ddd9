"""The folder of the embedded model, and its adapter's within it."""

from __future__ import annotations

from pathlib import Path

from scripts.paths import ROOT

EMBEDDED = ROOT / "server" / "split_server" / "embedded"
ADAPTER = Path("adapters") / "banking"
