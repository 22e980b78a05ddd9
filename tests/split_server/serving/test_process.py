"""The process of a server: a port in use is told before anything large is loaded."""

from __future__ import annotations

import subprocess
import sys

_IMPORTED = "import sys, split_server.serving.process; print('torch' in sys.modules)"


def test_the_port_can_be_taken_before_torch_is_imported() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _IMPORTED], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
