"""Packed series: unpacking restores them to within half a step, and they are small."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bdpbench.pages.packing import STEPS, pack

times = st.lists(
    st.floats(min_value=0, max_value=1e4).map(lambda x: x if x >= 1e-12 else 0.0), max_size=60
).map(sorted)
# Smaller numbers than SMALLEST_VALUE are packed as 0.
numbers = st.floats(min_value=-1e7, max_value=1e7).map(lambda x: x if abs(x) >= 1e-12 else 0.0)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(times_s=times, data=st.data())
def test_points_come_back_within_half_a_step(unpack: Any, times_s: list[float], data: Any) -> None:
    values = data.draw(st.lists(numbers, min_size=len(times_s), max_size=len(times_s)))
    packed = pack(times_s, values)
    # A step is at most ten times (times) or two and a half times (values) the finest step that
    # reaches the largest number with 65,535 steps: 1, 10, … or 1, 2, 5, 10, …
    assert packed["dt"] <= max(1e-3, 10 * max(times_s, default=0) / STEPS, 1.0 * (not any(times_s)))
    assert packed["dv"] <= max(2.5 * max(map(abs, values), default=0) / STEPS, not any(values))
    back_s, back = unpack(packed)
    rounding = 1 + 1e-9
    assert back_s == pytest.approx(times_s, abs=packed["dt"] / 2 * rounding, rel=1e-12)
    assert back == pytest.approx(values, abs=packed["dv"] / 2 * rounding, rel=1e-12)


def test_samples_of_a_simulation_keep_their_times() -> None:
    # 500 s in steps of 0.01 s are 50,000, which 65,535 steps hold; 9,410 / 65,535 = 0.14 → 0.2.
    packed = pack([0.0, 0.01, 500.0], [1.0, 2.0, 9410.0])
    assert (packed["dt"], packed["dv"]) == (0.01, 0.2)


def test_bytes_are_as_the_docstring_says() -> None:
    # Times 1 s and 2 s in steps of 1 ms: differences of 1,000 = 7 · 128 + 104, twice the bytes
    # e8 07. Values 3 and 1 in steps of 0.00005: differences of 60,000 and -40,000, written as
    # 120,000 = (7 · 128 + 41) · 128 + 64, bytes c0 a9 07, and 79,999, bytes ff f0 04.
    packed = pack([1.0, 2.0], [3.0, 1.0])
    assert (packed["dt"], packed["dv"]) == (0.001, 5e-05)
    assert base64.b64decode(packed["t"]).hex() == "e807e807"
    assert base64.b64decode(packed["v"]).hex() == "c0a907fff004"
