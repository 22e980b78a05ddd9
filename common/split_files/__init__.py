"""Files of a folder that others may write to: regular ones alone, within bounds, locked by name.

A path says nothing about what lies there. Opening a named pipe waits for ever, a device has no end,
and a symbolic link in place of a lock leads to a file that is somebody's. Therefore::

    read_regular(path, limit)     the bytes of a regular file, links followed; never more than limit
    open_regular(path)            the same file opened, to be read in pieces
    take_lock(path)               an advisory lock (flock) on a file, never on what a link names
    parse_document(data)          strict JSON: no key twice, no NaN, not too many values
    is_version(value, wanted)     whether a document's version is that number, not ``true`` or 1.0

Errors::

    OSError
    └── FileRefused               with a stable ``code``; ``strerror`` is the reason alone
        ├── NotRegularFile        a pipe, socket, device or folder; for a lock also a symbolic link
        ├── FileTooLarge          more bytes than the reader allows
        └── LockReplaced          somebody removes the lock's file faster than it can be taken
    ValueError
    └── DocumentInvalid           not the strict JSON that is wanted; the message is the reason

What the system reports stays what it is (FileNotFoundError, PermissionError, BlockingIOError).
"""

from split_files.document import DocumentInvalid, is_version, parse_document
from split_files.errors import FileRefused, FileTooLarge, LockReplaced, NotRegularFile
from split_files.locks import is_at, take_lock
from split_files.regular import open_regular, read_regular

__all__ = [
    "DocumentInvalid",
    "FileRefused",
    "FileTooLarge",
    "LockReplaced",
    "NotRegularFile",
    "is_at",
    "is_version",
    "open_regular",
    "parse_document",
    "read_regular",
    "take_lock",
]
