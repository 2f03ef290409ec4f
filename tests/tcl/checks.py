"""Checks that every script has to pass with its arguments."""

from __future__ import annotations

from collections.abc import Collection

from tests.tcl.conftest import Arguments, Keys, Outputs, Refused, argv


def named_keys(base: Arguments) -> list[str]:
    """Keys other than those that name a variable of ns-2."""
    return [key for key in base if not key.startswith("default.") and ".set." not in key]


def check_missing_and_unknown(refused: Refused, script: str, base: Arguments) -> None:
    """Each argument is required, and no others are accepted."""
    for key in named_keys(base):
        assert refused(script, *argv(base, {key: None})) == f"-{key} is missing"
    for key in ("nosuch", "flow.0.nosuch", f"flow.{base['flows']}.agent"):
        said = refused(script, *argv(base, {key: 1}))
        assert said == f"unknown key -{key} (-flows is {base['flows']})"


def check_keys(keys_of: Keys, script: str, base: Arguments, optional: Collection[str]) -> None:
    """The script knows these keys and no others."""
    known = {key for key in named_keys(base) if not key.startswith("flow.1.")}
    assert keys_of(script, base) == known | set(optional) | {"flow.0.linux", "flow.0.record"}


def check_key_matters(outputs: Outputs, script: str, base: Arguments, change: Arguments) -> None:
    """Changing an argument changes a file, and equal arguments write equal bytes."""
    assert outputs(script, *argv(base, change)) != outputs(script, *argv(base))
