"""The tokens whose rows a backend is believed to hold, also while steps are under way."""

from __future__ import annotations

from split_client.generation.trail import Trail


class Held:
    """Nothing is believed while steps are under way: an interruption must not leave a belief."""

    def __init__(self, trail: Trail) -> None:
        self._trail = trail
        self._tokens: list[int] = []
        # While steps are under way: where the cache ends if none of them went through, if the first
        # did, and so on.
        self._ends: list[int] = []
        # The last tokens that are a guess; the server takes them for one as well when they are
        # given up by the very next step.
        self._guessed = 0
        self._moved: int | None = None

    @property
    def moved(self) -> int | None:
        """Where rows begin that were computed for other positions, so that what is held has other
        names from there on than its tokens give it; None where there are none.
        """
        return self._moved

    @property
    def tokens(self) -> list[int]:
        """Those that are held for certain; not to be changed."""
        return [] if self._ends else self._tokens

    def cut_back(self, start: int) -> None:
        """What is held behind ``start`` is about to be given up."""
        if start < len(self.tokens) - self._guessed:
            self._trail.note(self._tokens)

    def keep(self, tokens: list[int], guessed: int = 0) -> None:
        """``tokens`` are held, of which the last ``guessed`` are a guess."""
        self._tokens, self._ends, self._guessed = tokens, [], guessed
        self._named(len(tokens))

    def begin(self, start: int, tokens: list[int], moved: int | None = None) -> None:
        """A step is under way that keeps ``start`` positions and appends ``tokens``; ``moved``: of
        which those from a position on are only moved.
        """
        if not self._ends:
            self._ends = [start]
        self._named(start)
        if self._moved is None:
            self._moved = moved
        del self._tokens[start:]
        self._tokens.extend(tokens)
        self._ends.append(len(self._tokens))

    def not_begun(self) -> None:
        """The step that was begun last was not sent."""
        del self._ends[-1:]
        del self._tokens[self._ends[-1] :]
        if len(self._ends) == 1:
            self._ends = []

    def done(self, guessed: int = 0) -> None:
        """The oldest step under way went through; its last ``guessed`` tokens are a guess."""
        del self._ends[:1]
        if len(self._ends) == 1:
            self._ends, self._guessed = [], guessed

    def resumed(self, went_through: int | None) -> None:
        """Steps were broken off, of which so many ``went_through``; None: not known, or none."""
        if not self._ends:
            return
        held = 0 if went_through is None else self._ends[went_through]
        del self._tokens[held:]
        self._ends, self._guessed = [], 0
        self._named(held)

    def leave(self) -> list[int]:
        """Believe in nothing any more, and return the tokens that were believed in."""
        left, ends = self.tokens, self._ends or [len(self._tokens)]
        for end in ends:
            self._trail.note(self._tokens[:end])
        self._tokens, self._ends, self._guessed = [], [], 0
        self._moved = None
        return left

    def _named(self, length: int) -> None:
        """No more than ``length`` tokens are left of those that were held."""
        if self._moved is not None and length <= self._moved:
            self._moved = None
