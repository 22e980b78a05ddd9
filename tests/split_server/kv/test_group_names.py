"""Names up to a position are a group's, and the principal's own behind it."""

from __future__ import annotations

from split_server.kv.block_key import GROUPS, PUBLIC, Namespaces
from split_server.kv.group_names import GroupNames
from split_wire.tiers import TIERS

DIGEST = bytes(16)
SPACES = Namespaces("model")


def names(principal: str, salt: str = "", until: int = 32) -> GroupNames:
    group = SPACES.of_group(principal, "us", {"ann", "bob"})
    return GroupNames.of(SPACES.of(principal, salt), group, until)


def test_members_name_what_they_share_alike_whatever_their_salt() -> None:
    ann, bob = names("ann"), names("bob", "salt")
    for position in (1, 16, 32):
        assert ann.name(position, DIGEST) == bob.name(position, DIGEST)
        assert ann.name(position, DIGEST) != SPACES.of("ann").name(position, DIGEST)
    assert ann.name(33, DIGEST) == SPACES.of("ann").name(33, DIGEST)
    assert bob.name(48, DIGEST) == SPACES.of("bob", "salt").name(48, DIGEST)


def test_what_is_shared_belongs_to_its_publisher_and_has_a_space_of_its_own() -> None:
    ann, bob = names("ann"), names("bob")
    assert (ann.owner, ann.part(32).owner, ann.shared) == ("ann", "ann", 32)
    assert ann.part(32).space == bob.part(32).space
    assert ann.space == ann.part(48).space == SPACES.of("ann").space != ann.part(32).space


def test_another_group_other_members_or_another_model_have_other_names() -> None:
    found = {
        space.of_group("ann", name, members).name(16, DIGEST)
        for space in (SPACES, Namespaces("other"))
        for name in ("us", "them")
        for members in ({"ann", "bob"}, {"ann"}, {"annbob"})
    }
    found |= {SPACES.of(owner, "us").name(16, DIGEST) for owner in (GROUPS, PUBLIC, "ann")}
    assert len(found) == 15


def test_members_name_what_they_share_alike_in_every_tier() -> None:
    for tier in TIERS:
        ann, bob = names("ann").in_tier(tier), names("bob", "salt").in_tier(tier)
        assert ann.name(32, DIGEST) == bob.name(32, DIGEST)
        assert ann.name(48, DIGEST) == SPACES.of("ann").in_tier(tier).name(48, DIGEST)
        assert ann.part(32).tier == ann.part(48).tier == tier
    both = names("ann")
    for position in (32, 48):
        found = {both.in_tier(tier).name(position, DIGEST) for tier in TIERS}
        assert found < {*both.in_all_tiers(both.name(position, DIGEST))}
