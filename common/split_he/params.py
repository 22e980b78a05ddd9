"""The one fixed parameter set, and Microsoft SEAL's word that it has 128 bits of security.

The ring is Z_Q[x] / (x^N + 1) with N = 2,048 and one prime Q of 54 bits, ternary secrets and errors
of standard deviation 3.24: the largest modulus that the Homomorphic Encryption Standard
(homomorphicencryption.org, November 2018, table 1) allows for this N at 128 bits.
"""

from __future__ import annotations

import functools
import importlib.util
from typing import Any, Final

from split_he.errors import HeUnavailable

N: Final = 2048
PRIME_BITS: Final = 54
Q: Final = 18014398509404161
"""The largest 54-bit prime that is 1 modulo 2N: SEAL's CoeffModulus.Create(2048, [54])."""
SEED_BYTES: Final = 32
INPUT_SCALE: Final = 2.0**30
WEIGHT_SCALE: Final = 2.0**18

HE_AVAILABLE: Final = importlib.util.find_spec("tenseal") is not None


def require_tenseal() -> Any:
    """The module ``tenseal.sealapi``. Raises HeUnavailable."""
    try:
        import tenseal.sealapi as sealapi
    except ImportError as error:
        raise HeUnavailable(
            f"encrypted adapters need tenseal ({error}); pip install 'gatelink[he]'"
        ) from error
    return sealapi


@functools.cache
def context() -> Any:
    """The one SEALContext, made with SEC_LEVEL_TYPE.TC128. Raises HeUnavailable."""
    made = build_context(N, [PRIME_BITS])
    (prime,) = made.first_context_data().parms().coeff_modulus()
    if int(prime.value()) != Q:
        raise HeUnavailable(f"SEAL chose the prime {prime.value()}, the wire format says {Q}")
    return made


def build_context(degree: int, bits: list[int]) -> Any:
    """A CKKS context that SEAL accepts at 128 bits. Raises HeUnavailable with SEAL's reason."""
    seal = require_tenseal()
    parameters = seal.EncryptionParameters(seal.SCHEME_TYPE.CKKS)
    parameters.set_poly_modulus_degree(degree)
    try:
        parameters.set_coeff_modulus(seal.CoeffModulus.Create(degree, bits))
    except (ValueError, RuntimeError) as error:
        raise HeUnavailable(f"SEAL refuses degree {degree} with primes {bits}: {error}") from error
    made = seal.SEALContext(parameters, True, seal.SEC_LEVEL_TYPE.TC128)
    if not made.parameters_set():
        raise HeUnavailable(
            f"SEAL refuses degree {degree} with primes {bits}: {made.parameters_error_message()}"
        )
    return made
