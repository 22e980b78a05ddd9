"""Run files of no text, as many as are wanted, under a server's own key."""

from __future__ import annotations

import secrets
from pathlib import Path

from split_server.kv.run import Run, new_slab
from split_server.kv_disk.folder import Folder
from split_server.kv_disk.keys import FolderKey, open_key, state_files
from split_server.kv_disk.run_file import NONCE_BYTES, Header
from split_server.kv_disk.salts import SaltFile
from split_server.kv_disk.seal import sealed_file, sealed_size
from split_server.security.principal import LOCAL

import torch  # isort: skip

_POSITIONS, _NAME, _DIGEST, _SPACE = 256, 32, 16, 16


def fill(folder: Path, count: int) -> None:
    """Have ``count`` files of the local user in the folder ``kv`` of ``folder``."""
    kv, state = folder / "kv", folder / "state"
    key_file, salt_file = state_files(kv, state)
    key = open_key(key_file)
    salts = SaltFile(salt_file, key)
    salts.of(LOCAL)
    Folder(kv, key.id).make()
    for _ in range(count):
        header, data = _file(key, salts)
        (kv / header.file_name).write_bytes(data)


def _file(key: FolderKey, salts: SaltFile) -> tuple[Header, bytearray]:
    layers = new_slab([(2, 1, _POSITIONS, 4)], torch.float32)
    layers[0].zero_()
    ends = range(16, _POSITIONS + 1, 16)
    names = {end: secrets.token_bytes(_NAME) for end in ends}
    run = Run(LOCAL, 0, _POSITIONS, bytes(_DIGEST * _POSITIONS), names, layers, None)
    owner = salts.keys_of(LOCAL)
    if owner is None:
        raise SystemExit("the salts cannot be stored")
    nonce, space = secrets.token_bytes(NONCE_BYTES), secrets.token_bytes(_SPACE)
    kind = ("exact", "float32", False)
    header = Header(
        key.id, owner.tag, space, b"", 0, _POSITIONS, sealed_size(run), nonce, dict(names), *kind
    )
    return header, sealed_file(run, header, owner.cipher)
