"""The reasons why statements fail, in sentences."""

from __future__ import annotations

from typing import Any

import pytest

from bdpbench.pages.inputs import read_captions
from bdpbench.pages.names import Names
from bdpbench.pages.statements import failure_in_words

PROTOCOLS = {
    "HS": {"label": "HS-TCP", "colour": "#000000"},
    "Vegas": {"label": "TCP Vegas", "colour": "#000000"},
    "Reno": {"label": "TCP Reno", "colour": "#000000"},
}


def _run(run_id: str, protocol: str, error_pct: int) -> Any:
    parameters = {"protocol": protocol, "error_pct": error_pct, "duration_s": 10 * error_pct}
    label = f"{protocol}, {error_pct} % errors"
    return {"run_id": run_id, "scenario": "lossy", "label": label, "parameters": parameters}


@pytest.fixture(scope="module")
def names() -> Names:
    """Three protocols with errors of 1 and 5 %."""
    keys = {"h": "HS", "v": "Vegas", "r": "Reno"}
    runs = [_run(f"{k}{pct}", key, pct) for k, key in keys.items() for pct in (1, 5)]
    units = {"error_pct": {"unit": "%", "description": "", "nominal": ""}}
    plan: Any = {"runs": runs, "protocols": PROTOCOLS, "parameters": units, "scenarios": {}}
    definition: Any = {"metric": "goodput", "title": "Goodput"}
    return Names(plan, read_captions(), [definition])


def _claim(explanation: str, **values: float | None) -> Any:
    evidence = [
        {"label": f"goodput, run {run_id}", "value": value, "unit": "Mbit/s", "run_id": run_id}
        for run_id, value in values.items()
    ]
    return {"explanation": explanation, "evidence": evidence}


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        (
            _claim("{1.5, 2} < {1.75}", h1=1.5, v1=2.0, r1=1.75),
            ["Goodput of TCP Vegas with 2 Mbit/s: not less than TCP Reno with 1.75 Mbit/s."],
        ),
        (
            _claim("3.5 > 2 · 1.75", h1=3.5, v1=1.75),
            [
                "Goodput of HS-TCP with 3.5 Mbit/s: not more than 2 times that of TCP Vegas with "
                "1.75 Mbit/s."
            ],
        ),
        (
            _claim("10 < 10", h1=10.0),
            ["Goodput of HS-TCP with 10 Mbit/s: not less than 10 Mbit/s."],
        ),
        (
            _claim("never < 2", h1=None, v1=2.0),
            ["Goodput of HS-TCP, which never reaches it: not less than TCP Vegas with 2 Mbit/s."],
        ),
        (
            _claim("spread of 4, 9: 5 < 2", h1=4.0, v1=9.0),
            [
                "Goodput: HS-TCP with 4 Mbit/s and TCP Vegas with 9 Mbit/s are 5 Mbit/s apart, not "
                "less than 2 Mbit/s."
            ],
        ),
        (
            _claim("spread of 4, 9: 5 < 2", h1=4.0, h5=9.0),
            [
                "Goodput: HS, 1 % errors with 4 Mbit/s and HS, 5 % errors with 9 Mbit/s are 5 "
                "Mbit/s apart, not less than 2 Mbit/s."
            ],
        ),
        (
            _claim("9 → 4 along error_pct", h1=9.0, h5=4.0),
            ["Goodput of HS-TCP along the error: 9 Mbit/s, 4 Mbit/s."],
        ),
        (
            _claim("7 in [8, 9]", v1=7.0),
            ["Goodput of TCP Vegas with 7 Mbit/s is not within 8 to 9 Mbit/s."],
        ),
        (
            _claim("reached at 7", v1=7.0),
            ["Goodput of TCP Vegas with 7 Mbit/s is reached."],
        ),
        (
            # The first part holds; the second one is about the runs with 5 % errors.
            _claim("1 < 2; 4 < 3", h1=1.0, v1=2.0, h5=4.0, v5=3.0),
            ["Error 5 %: Goodput of HS-TCP with 4 Mbit/s: not less than TCP Vegas with 3 Mbit/s."],
        ),
    ],
)
def test_failing_parts_are_told(names: Names, claim: Any, expected: list[str]) -> None:
    assert failure_in_words(claim, names) == expected


def test_absolute_values_are_told_without_their_sign(names: Names) -> None:
    (told,) = failure_in_words(_claim("{0.4} < {0.3}", h1=-0.4, v1=0.3), names)
    assert told.startswith("Goodput of HS-TCP with 0.4 Mbit/s: not less than")


@pytest.mark.parametrize("formula", ["nobody knows", "1 < 2; 3 ≪ 4", "{1} < {7}", ""])
def test_an_unknown_formula_is_left_to_the_reader(names: Names, formula: str) -> None:
    assert failure_in_words(_claim(formula, h1=1.0, v1=2.0), names) == []


def test_many_parts_are_counted(names: Names) -> None:
    formula = "; ".join(["5 < 4"] * 5)
    evidence = _claim("", h1=5.0, v1=4.0)["evidence"] * 5
    told = failure_in_words({"explanation": formula, "evidence": evidence}, names)  # type: ignore[typeddict-item]
    assert len(told) == 4
    assert told[-1] == "The same is true in 2 more cases."
