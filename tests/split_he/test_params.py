"""The parameters are SEAL's, and only those with 128 bits of security are accepted."""

from __future__ import annotations

import sys

import pytest

from split_he import params
from split_he.errors import HeUnavailable


def test_seal_takes_the_parameters_at_128_bits_and_chooses_our_prime() -> None:
    parameters = params.context().first_context_data().parms()
    assert parameters.poly_modulus_degree() == params.N
    assert [int(prime.value()) for prime in parameters.coeff_modulus()] == [params.Q]
    assert params.Q % (2 * params.N) == 1
    assert params.Q.bit_length() == params.PRIME_BITS


@pytest.mark.parametrize(("degree", "bits"), [(2048, [55]), (2048, [30, 25]), (1024, [54])])
def test_weaker_parameters_are_refused(degree: int, bits: list[int]) -> None:
    with pytest.raises(HeUnavailable, match="SEAL refuses"):
        params.build_context(degree, bits)


def test_without_tenseal_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tenseal.sealapi", None)
    with pytest.raises(HeUnavailable, match=r"gatelink\[he\]"):
        params.require_tenseal()
