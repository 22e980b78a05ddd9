"""The beginning that a reply goes on from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from split_client.chat.steering.errors import BranchInvalid
from split_client.chat.steering.tokens import Kept
from split_client.generation.constraint import Constraint
from split_client.generation.detokenizer import Decoder, Detokenizer

# Room enough for whatever may follow: only what is there is asked about.
_ROOM = 1 << 20


@dataclass(frozen=True, slots=True)
class Begun:
    """The first tokens of a reply, with the states that they were chosen from where these are kept;
    one token at least.
    """

    kept: tuple[Kept, ...]

    @classmethod
    def of(cls, ids: Sequence[int]) -> Begun:
        """Of tokens whose states nobody has."""
        return cls(tuple(map(Kept, ids)))

    @property
    def ids(self) -> list[int]:
        return [kept.token for kept in self.kept]

    def texts(self, decoder: Decoder) -> list[tuple[int, str]]:
        """Each token with the text that it completes; a character that is not whole is left to
        what follows.
        """
        detokenizer = Detokenizer(decoder)
        return [(token, detokenizer.push(token)) for token in self.ids]

    def tell(self, constraint: Constraint, ends: frozenset[int]) -> None:
        """Have ``constraint`` accept the tokens; ``ends``: those that end a reply.

        Raises BranchInvalid for what it does not permit.
        """
        for at, token in enumerate(self.ids):
            if constraint.finished:
                raise BranchInvalid("the form of replies is whole before; set another, or none")
            mask = constraint.allowed(_ROOM)
            if mask is not None and not (0 <= token < len(mask) and mask[token]):
                raise BranchInvalid(
                    f"the form of replies, or of calls, does not permit token {at + 1}; "
                    "choose another one, or take the form away"
                )
            if token not in ends:
                constraint.accept(token)
