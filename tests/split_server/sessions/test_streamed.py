"""Sessions over a middle of which layers are on disk."""

from __future__ import annotations

from pathlib import Path

import torch

from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.model.loader import load_backbone
from split_server.engine.model.streaming import LayersOnDisk, layer_file
from tests import oracle
from tests.engines import Device, run, serving

_IDS = [7 + at % 40 for at in range(60)]


def test_replies_are_those_of_generate_and_wide_steps_are_interactive(
    family_path: Path, tmp_path: Path
) -> None:
    checkpoint = read_checkpoint(family_path, "tiny")
    file = layer_file(checkpoint, torch.float32, tmp_path, "a digest")
    on_disk = LayersOnDisk((0, 2), file)
    backbone = load_backbone(checkpoint, "float32", "cpu", on_disk=on_disk)

    async def scenario() -> None:
        async with serving(family_path, backbone=backbone) as service:
            device = await Device(service, family_path).open()
            assert device.protocol.opened is not None
            assert device.protocol.opened.interactive_rows == 32
            assert device.protocol.opened.streamed == 2
            found = await device.greedy(_IDS, 12)
            assert found == oracle.greedy(family_path, _IDS, 12)[: len(found)]

    run(scenario())
    assert backbone.stream is not None
    backbone.stream.close()
