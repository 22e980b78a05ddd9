"""The real model of tests: fetched once for all processes, and never left out in CI."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from scripts.demonstration.smollm2 import ModelFailed
from scripts.real.model import NAME, real_model


def real_checkpoint(config: pytest.Config) -> Path:
    """The folder of SmolLM2-135M-Instruct; where it cannot be had, a skip, and in CI a failure."""
    capture = config.pluginmanager.getplugin("capturemanager")
    assert capture is not None
    try:
        # A person who runs the tests sees what is downloaded, and how far it is.
        with capture.global_and_fixture_disabled():
            return real_model(_tell)
    except ModelFailed as error:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing(f"{NAME} is missing: {error}")


def _tell(text: str) -> None:
    print(f"\n{NAME}: {text}", file=sys.stderr, flush=True)
