"""A language model's tokens as the target would write them, in an order where prefixes are ranges.

So the probability that the target's next tokens begin in some way is a difference of two sums.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(slots=True)
class Node:
    """``low`` to ``high``: the model's tokens that begin so; those up to ``exact`` end here too.

    ``tokens`` are the target's that may follow, ``children`` the nodes that they lead to.
    """

    low: int
    high: int = 0
    exact: int = 0
    tokens: list[int] = field(default_factory=list)
    children: list[int] = field(default_factory=list)


class Trie:
    """``spelled``: each of the model's tokens in tokens of the target; empty ones are left out."""

    def __init__(self, spelled: list[list[int]], size: int) -> None:
        used = [token for token, way in enumerate(spelled) if way]
        self.order = np.array(sorted(used, key=spelled.__getitem__), np.int64)
        self.nodes = [Node(0, len(used))]
        for place, token in enumerate(self.order.tolist()):
            self._add(place, spelled[token])
        self.low, self.high = np.zeros(size, np.int64), np.zeros(size, np.int64)
        for token, child in zip(self.nodes[0].tokens, self.nodes[0].children, strict=True):
            self.low[token], self.high[token] = self.nodes[child].low, self.nodes[child].high
        self._places = [np.array(node.children, np.int64) for node in self.nodes]
        self._lows = np.array([node.low for node in self.nodes])
        self._highs = np.array([node.high for node in self.nodes])

    def child(self, node: int, token: int) -> int | None:
        """Where ``token`` behind ``node`` leads; None where no token of the model goes on so."""
        found = self.nodes[node]
        try:
            return found.children[found.tokens.index(token)]
        except ValueError:
            return None

    def ranges(self, node: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Low and high of each child."""
        places = self._places[node]
        return self._lows[places], self._highs[places]

    def ending(self, node: int) -> int | None:
        """The model's token that is spelled just so."""
        found = self.nodes[node]
        return int(self.order[found.low]) if found.exact > found.low else None

    def _add(self, place: int, way: list[int]) -> None:
        node = self.nodes[0]
        for token in way:
            if not node.tokens or node.tokens[-1] != token:
                node.tokens.append(token)
                node.children.append(len(self.nodes))
                self.nodes.append(Node(place, place, place))
            node = self.nodes[node.children[-1]]
            node.high = place + 1
        node.exact = place + 1
