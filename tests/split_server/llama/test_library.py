"""Which libraries are taken, and what is said of the others."""

from __future__ import annotations

import ctypes
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from split_server.errors import EngineUnusable
from split_server.llama import library as rooms
from tests.llama_models import library


def _module(**changed: Any) -> Any:
    """A stand-in with the structures that are known, but for those that are ``changed``."""
    made = {}
    for name, (_, fields) in rooms._STRUCTURES.items():
        kinds = vars(library().functions)[name]._fields_
        assert [kind[0] for kind in kinds] == fields.split()
        made[name] = type(name, (ctypes.Structure,), {"_fields_": kinds})
    return SimpleNamespace(**{**made, **changed})


def test_the_library_of_this_environment_is_one_that_is_known() -> None:
    module = library().functions
    rooms.check_structures(module, "here")
    rooms.check_defaults(module, "here")


def test_a_missing_package_is_refused_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    with pytest.raises(EngineUnusable, match=r"not installed; pip install 'gatelink\[llama\]'"):
        rooms._imported()


@pytest.mark.parametrize("error", [OSError("no such file"), RuntimeError("wrong ELF class")])
def test_a_shared_library_that_cannot_be_loaded_is_refused(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: str) -> Any:
        raise error

    monkeypatch.setattr(rooms.importlib, "import_module", refuse)
    with pytest.raises(EngineUnusable, match=r"cannot be loaded .*--no-binary"):
        rooms._imported()


def test_an_old_binding_without_a_structure_is_refused() -> None:
    module = _module()
    del module.llama_batch
    with pytest.raises(EngineUnusable, match=r"0\.2\.9 is not one .*has no llama_batch"):
        rooms.check_structures(module, "0.2.9")


def test_a_binding_with_other_fields_is_refused() -> None:
    fields = library().functions.llama_context_params._fields_
    other = type("other", (ctypes.Structure,), {"_fields_": fields[1:] + fields[:1]})
    with pytest.raises(EngineUnusable, match="llama_context_params has other fields"):
        rooms.check_structures(_module(llama_context_params=other), "9.9")


def test_a_field_of_another_width_is_refused() -> None:
    fields = [("n_tokens", ctypes.c_int64), *library().functions.llama_batch._fields_[1:]]
    # As wide as before where it is padded; a second one is not.
    fields[-1] = ("logits", ctypes.c_int64 * 2)
    other = type("other", (ctypes.Structure,), {"_fields_": fields})
    with pytest.raises(EngineUnusable, match="bytes and not 56"):
        rooms.check_structures(_module(llama_batch=other), "9.9")


def test_a_compiled_library_of_another_layout_is_refused() -> None:
    real = library().functions

    def shifted() -> Any:
        found = real.llama_context_default_params()
        found.n_ctx, found.n_batch = found.n_batch, found.n_ubatch
        return found

    module = SimpleNamespace(
        llama_model_default_params=real.llama_model_default_params,
        llama_context_default_params=shifted,
    )
    with pytest.raises(EngineUnusable, match="compiled library sets n_ctx to 2048"):
        rooms.check_defaults(module, "9.9")


def test_complaints_of_the_library_are_told_once() -> None:
    opened = library()
    opened.complaint()
    opened.errors.append("load: no such tensor")
    assert opened.complaint() == "load: no such tensor"
    assert opened.complaint() == "no reason was given"
