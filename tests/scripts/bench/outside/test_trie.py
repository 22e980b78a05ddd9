"""What begins in some way is a range of the order, and what ends there its first part."""

from __future__ import annotations

from scripts.bench.outside.trie import Trie

_SPELLED = [[5, 2], [5], [], [5, 2, 1], [3], [5, 4]]


def test_ranges_hold_just_the_tokens_that_begin_so() -> None:
    trie = Trie(_SPELLED, 6)
    assert [_SPELLED[token] for token in trie.order] == sorted(way for way in _SPELLED if way)
    five = trie.child(0, 5)
    assert five is not None
    node = trie.nodes[five]
    assert {*trie.order[node.low : node.high].tolist()} == {0, 1, 3, 5}
    assert trie.order[node.low : node.exact].tolist() == [1]
    assert (trie.low[5], trie.high[5]) == (node.low, node.high)


def test_a_way_that_no_token_goes_leads_nowhere() -> None:
    trie = Trie(_SPELLED, 6)
    three = trie.child(0, 3)
    assert three is not None
    assert trie.child(three, 1) is None
    assert trie.child(0, 1) is None
    assert trie.high[1] == trie.low[1]


def test_a_token_is_found_where_its_spelling_ends() -> None:
    trie = Trie(_SPELLED, 6)
    node = 0
    for token, ending in ((5, 1), (2, 0), (1, 3)):
        child = trie.child(node, token)
        assert child is not None
        assert trie.ending(child) == ending
        node = child
