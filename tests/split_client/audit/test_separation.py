"""The attacks cannot know the truth: nothing that they import holds it."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import split_client.audit.attacks as attacks

TRUTH = ("split_client.audit.device", "split_client.audit.scoring", "split_client.audit.study")


def test_importing_every_attack_loads_nothing_that_holds_the_truth() -> None:
    names = [one.name for one in pkgutil.walk_packages(attacks.__path__, f"{attacks.__name__}.")]
    assert len(names) > 20
    program = f"import sys\nimport {', '.join(names)}\nprint(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert [name for name in loaded if name.startswith(TRUTH)] == []
    assert set(names) <= set(loaded)
