"""The folder of layer files: made once, gone when nobody used them or when others need the room."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import platformdirs

from split_files import take_lock
from split_server.checkpoint.layers.errors import LayerFileDamaged
from split_server.checkpoint.layers.file import LayerFile, open_layer_file
from split_server.checkpoint.layers.layout import LayerIndex
from split_server.checkpoint.layers.writing import TEMPORARY, Fill, write_layer_file
from split_server.errors import LayersNotKept

_SUFFIX, _LOCK = ".layers", "lock"
_UNUSED_SECONDS = 30 * 86_400.0
# Of the file system, which others need as well.
_FREE_SHARE, _MOST_FREE = 20, 1 << 30
_log = logging.getLogger(__name__)


def default_folder() -> Path:
    """Where layer files lie unless a folder is named."""
    return platformdirs.user_cache_path("gatelink", appauthor=False) / "layers"


class LayerFolder:
    """``path`` is made where there is none; ``clock``: seconds since 1970."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path, self._clock = path, clock

    def opened(self, index: LayerIndex, fill: Fill) -> LayerFile:
        """The layer file of ``index``, made now where there is none that holds together.

        Others that want it meanwhile wait. Raises LayersNotKept.
        """
        path = self._path / f"{sha256(index.source.encode()).hexdigest()[:32]}{_SUFFIX}"
        try:
            self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
            with take_lock(self._path / _LOCK):
                self._remove_leftovers(path)
                return self._found(path, index) or self._made(path, index, fill)
        except (OSError, LayerFileDamaged) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise LayersNotKept(str(self._path), reason) from error

    def _made(self, path: Path, index: LayerIndex, fill: Fill) -> LayerFile:
        self._make_room(index.offsets()[-1])
        _log.info("the layers are written to %s once", path)
        write_layer_file(path, index, fill)
        return open_layer_file(path, index.source)

    def _found(self, path: Path, index: LayerIndex) -> LayerFile | None:
        try:
            file = open_layer_file(path, index.source)
        except FileNotFoundError:
            return None
        except LayerFileDamaged:
            path.unlink()
            return None
        if [layer.tensors for layer in file.index.layers] != [one.tensors for one in index.layers]:
            file.close()
            path.unlink()
            return None
        with suppress(OSError):
            # When it was used last; what lies in it stays what it is.
            os.utime(path, (self._clock(), self._clock()))
        return file

    def _remove_leftovers(self, wanted: Path) -> None:
        """What killed processes have begun, and what nobody used for long."""
        for path in self._path.iterdir():
            begun = path.name.startswith(TEMPORARY)
            aged = path.suffix == _SUFFIX and self._idle(path) > _UNUSED_SECONDS
            if begun or (aged and path != wanted):
                path.unlink(missing_ok=True)

    def _make_room(self, size: int) -> None:
        """Remove files until ``size`` bytes fit, the longest unused first. Raises LayersNotKept."""
        others = sorted(self._path.glob(f"*{_SUFFIX}"), key=self._idle)
        if self._free() + sum(path.lstat().st_size for path in others) < size:
            raise LayersNotKept(
                str(self._path), f"they need {size} bytes of disk and {self._free()} are free"
            )
        while others and self._free() < size:
            others.pop().unlink(missing_ok=True)

    def _idle(self, path: Path) -> float:
        return self._clock() - path.lstat().st_mtime

    def _free(self) -> int:
        found = os.statvfs(self._path)
        kept = min(found.f_blocks * found.f_frsize // _FREE_SHARE, _MOST_FREE)
        return max(0, found.f_bavail * found.f_frsize - kept)
