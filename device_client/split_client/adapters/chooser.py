"""The choice of a reply's adapter: the one that was named, or the one that its text wants."""

from __future__ import annotations

from collections.abc import Callable

from split_client.adapters.choice import AdapterInfo, Adapters, choose
from split_client.adapters.errors import UnknownAdapter
from split_client.generation.sequence import Sequence

AUTO, NONE = "auto", "none"


class AdapterChooser:
    """``load`` brings the adapters the first time that one is wanted: nothing is asked before."""

    def __init__(self, load: Callable[[], Adapters]) -> None:
        self._load = load
        self._adapters: Adapters | None = None

    @property
    def available(self) -> tuple[AdapterInfo, ...]:
        """All there are. Raises what loading them raises."""
        return self._loaded().available

    def choice(self, wanted: str | None, text: str) -> str | None:
        """The name of the adapter for a reply to ``text``.

        ``wanted``: a name, "auto" (by the words of ``text``), "none" or None. Raises
        UnknownAdapter, and what loading the adapters raises.
        """
        if wanted is None or wanted == NONE:
            return None
        if wanted == AUTO:
            chosen = choose(text, self.available)
            return None if chosen is None else chosen.name
        names = [adapter.name for adapter in self.available]
        if wanted not in names:
            raise UnknownAdapter(wanted, names)
        return wanted

    def use(self, name: str | None, sequence: Sequence) -> None:
        """Have ``sequence`` use the adapter ``name`` (None: none) from now on.

        Raises UnknownAdapter and the errors of whoever owns it.
        """
        if name is not None or self._adapters is not None:
            self._loaded().use(name, sequence)

    def prepare(self, wanted: str | None) -> None:
        """Begin what replies with the adapter ``wanted``, where that is a name, may find done.

        Raises as :meth:`choice`.
        """
        # A name that nobody knows is told here.
        name = self.choice(wanted, "")
        if name is not None:
            self._loaded().prepare(name)

    def close(self) -> None:
        """Give up what is held; a later use begins anew."""
        adapters, self._adapters = self._adapters, None
        if adapters is not None:
            adapters.close()

    def _loaded(self) -> Adapters:
        if self._adapters is None:
            self._adapters = self._load()
        return self._adapters
