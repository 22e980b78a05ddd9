"""First names, surnames, and words that are names only beside others."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import import_module, resources
from typing import Any, Final

from scripts.paths import ROOT

# Locales of Faker whose names are in Latin letters.
LOCALES: Final = (
    *("cs_CZ", "da_DK", "de_AT", "de_CH", "de_DE", "en_GB", "en_IE", "en_US", "es_ES", "es_MX"),
    *("et_EE", "fi_FI", "fr_FR", "hr_HR", "hu_HU", "it_IT", "lt_LT", "lv_LV", "nl_NL", "no_NO"),
    *("pl_PL", "pt_BR", "pt_PT", "ro_RO", "sk_SK", "sl_SI", "sv_SE", "tr_TR"),
)
# Of the census: all first names, and the most frequent surnames.
MOST_FEMALE, MOST_MALE, MOST_FAMILY = 5000, 1500, 8000
_FOLDER: Final = ROOT / "scripts" / "redaction_data"
_NAME: Final = re.compile("[A-Za-zÀ-ÖØ-öø-ɏḀ-ỿ]{2,24}")


def build() -> dict[str, Any]:
    """Keys, separated by spaces; ``given`` by sex: f, m, or n for both."""
    female = {*_census("female.first", MOST_FEMALE), *_faker("first_names_female")}
    male = {*_census("male.first", MOST_MALE), *_faker("first_names_male")}
    both = (female & male) | ({*_faker("first_names")} - female - male)
    family = {*_census("all.last", MOST_FAMILY)}
    for listed in ("last_names", "unisex_last_names", "male_last_names", "female_last_names"):
        family.update(_faker(listed))
    given = {
        "f": _joined(female - both),
        "m": _joined(male - both),
        "n": _joined(both),
    }
    short = {name for name in female | male | both if len(name) < 3}
    # Words, months, places and titles that are on the lists too: alone they are no name.
    common = _joined(_listed("common") | short)
    return {
        "format": "gatelink.redaction.names",
        "given": given,
        "family": _joined(family),
        "common": common,
    }


def _listed(name: str) -> set[str]:
    return set((_FOLDER / f"{name}.txt").read_text("utf-8").split())


def _census(which: str, most: int) -> list[str]:
    lines = resources.files("names").joinpath(f"dist.{which}").read_text("ascii").splitlines()
    return [line.split()[0].lower() for line in lines[:most]]


def _faker(listed: str) -> Iterable[str]:
    for locale in LOCALES:
        provider = import_module(f"faker.providers.person.{locale}").Provider
        for name in getattr(provider, listed, ()) or ():
            yield from (word.lower() for word in re.split("[ -]", name))


def _joined(names: Iterable[str]) -> str:
    kept = {name for name in names if _NAME.fullmatch(name)} - _listed("no_names")
    return " ".join(sorted(kept))
