"""Names of kept blocks open nothing to anybody else."""

from __future__ import annotations

from split_server.kv.block_key import Namespaces
from split_wire.tiers import TIERS

DIGEST = bytes(range(16))


def test_the_same_principal_salt_and_model_give_the_same_names() -> None:
    spaces = Namespaces("model")
    assert spaces.of("ann", "s").name(16, DIGEST) == spaces.of("ann", "s").name(16, DIGEST)


def test_another_principal_salt_model_position_or_digest_gives_another_name() -> None:
    spaces = Namespaces("model")
    names = {
        spaces.of("ann").name(16, DIGEST),
        spaces.of("bob").name(16, DIGEST),
        spaces.of("ann", "s").name(16, DIGEST),
        Namespaces("other").of("ann").name(16, DIGEST),
        spaces.of("ann").name(32, DIGEST),
        spaces.of("ann").name(16, DIGEST[::-1]),
    }
    assert len(names) == 6


def test_salt_and_model_cannot_be_shifted_into_each_other() -> None:
    one, other = Namespaces("ab"), Namespaces("a")
    # The same secret, so that the parts alone tell them apart.
    other._salts = one._salts
    assert one.of("ann", "c").name(16, DIGEST) != other.of("ann", "bc").name(16, DIGEST)


def test_a_principal_that_was_forgotten_comes_back_as_another_one() -> None:
    spaces = Namespaces("model")
    before = {name: spaces.of(name).name(16, DIGEST) for name in ("ann", "bob")}
    spaces.forget(lambda name: name == "ann")
    assert spaces.of("ann").name(16, DIGEST) != before["ann"]
    assert spaces.of("bob").name(16, DIGEST) == before["bob"]


def test_a_block_has_another_name_in_each_tier_and_lies_in_the_same_space() -> None:
    names = Namespaces("model").of("ann", "s")
    found = {tier: names.in_tier(tier) for tier in TIERS}
    named = [found[tier].name(16, DIGEST) for tier in TIERS]
    assert len(set(named)) == 3
    assert named[0] == names.name(16, DIGEST)
    assert names.in_all_tiers(named[0]) == named
    assert {each.space for each in found.values()} == {names.space}
    assert found["int8"].in_tier("exact") == names


def test_the_name_in_a_tier_depends_on_the_secret_and_not_on_the_exact_name_alone() -> None:
    ann, bob = (Namespaces("model").of(who) for who in ("ann", "bob"))
    exact = ann.name(16, DIGEST)
    assert ann.in_all_tiers(exact)[1:] != bob.in_all_tiers(exact)[1:]
