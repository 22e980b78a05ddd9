"""Keys that are typed while a reply streams: kept for the next prompt, not shown in the text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def keys_unseen() -> Iterator[None]:
    """Inside, the terminal shows no key and waits for no line; Ctrl-C and Ctrl-Z work as ever.

    Where standard input is no terminal, or the system has no termios, nothing is changed.
    """
    try:
        import termios

        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)
    except (ImportError, AttributeError, OSError, ValueError):
        yield
        return
    except termios.error:
        yield
        return
    quiet = termios.tcgetattr(terminal)
    quiet[3] &= ~(termios.ECHO | termios.ECHONL | termios.ICANON)
    with suppress(termios.error):
        termios.tcsetattr(terminal, termios.TCSANOW, quiet)
    try:
        yield
    finally:
        with suppress(termios.error):
            termios.tcsetattr(terminal, termios.TCSANOW, before)
