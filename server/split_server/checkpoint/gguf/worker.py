"""The process that makes a folder of a GGUF, within limits of processor time and memory.

``python -m split_server.checkpoint.gguf.worker FILE FOLDER DTYPE FORM``: one JSON object on
standard output, with the ``folder``, or the ``code`` and ``message`` of an error. ``FOLDER`` ends
in a slash when the folder is to be made inside it, named after the file's SHA-256; ``FORM``:
``whole``, or ``split`` for one whose middle stays a GGUF.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from split_files import take_lock
from split_server.checkpoint.gguf.folder import write_folder, write_split_folder
from split_server.checkpoint.gguf.source import Source
from split_server.errors import CheckpointNotFound, MalformedCheckpoint, ServerError

# What a vocabulary of 260,000 pieces takes in Python, and the largest matrix in float32.
_MEMORY = 4 << 30
_SECONDS, _BYTES_PER_SECOND = 60, 4 << 20


def main() -> None:
    file, folder, dtype, form = sys.argv[1:]
    try:
        answer = {"folder": str(_made(Path(file), folder, dtype, form))}
    except ServerError as error:
        answer = {"code": error.code, "message": str(error)}
    except MemoryError:
        answer = {"code": MalformedCheckpoint.code, "message": f"{file} needs too much memory"}
    except OSError as error:
        reason = error.strerror or str(error)
        answer = {"code": CheckpointNotFound.code, "message": f"{file}: {reason}"}
    sys.stdout.write(json.dumps(answer))


def _made(file: Path, folder: str, dtype: str, form: str) -> Path:
    with Source(file) as source:
        _limit(source.size)
        digest = source.digest()
        name = f"{digest}-{dtype}" if form == "whole" else f"{digest}-{dtype}-{form}"
        target = Path(folder) / name if folder.endswith("/") else Path(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        # Two servers that start at once make one folder.
        with take_lock(target.with_name(f"{target.name}.lock")):
            # What an import that was killed left behind; under the lock nobody else writes here.
            for left in target.parent.glob(f".{target.name}-*"):
                shutil.rmtree(left, ignore_errors=True)
            if not target.exists():
                write = write_folder if form == "whole" else write_split_folder
                write(source, target, digest, dtype)
    return target


def _limit(size: int) -> None:
    try:
        import resource

        from split_server.system_limits import limit_to
    except ImportError:  # Windows has no such limits
        return
    seconds = _SECONDS + size // _BYTES_PER_SECOND
    limit_to(resource.RLIMIT_CPU, seconds)
    limit_to(resource.RLIMIT_DATA, _MEMORY)


if __name__ == "__main__":
    main()
