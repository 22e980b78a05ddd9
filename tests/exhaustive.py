"""``GATELINK_EXHAUSTIVE`` has all cases run where a part of them shows a fault as well."""

from __future__ import annotations

import os

EXHAUSTIVE = "GATELINK_EXHAUSTIVE" in os.environ
