"""Packed series: unpacking restores them to within half a step, and they are small."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bdpbench.pages.series import STEPS, pack

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
    # A step is at most two and a half times the finest step that reaches the largest number.
    assert packed["dt"] <= max(1e-3, 2.5 * max(times_s, default=0) / STEPS, not any(times_s))
    assert packed["dv"] <= max(2.5 * max(map(abs, values), default=0) / STEPS, not any(values))
    back_s, back = unpack(packed)
    rounding = 1 + 1e-9
    assert back_s == pytest.approx(times_s, abs=packed["dt"] / 2 * rounding, rel=1e-12)
    assert back == pytest.approx(values, abs=packed["dv"] / 2 * rounding, rel=1e-12)


def test_samples_of_a_simulation_keep_their_times() -> None:
    # 100 s in steps of 0.01 s are 10,000, which 16,383 steps hold; 9,410 / 16,383 = 0.57 → 1.
    packed = pack([0.0, 0.01, 100.0], [1.0, 2.0, 9410.0])
    assert packed == {"dt": 0.01, "dv": 1.0, "t": [0, 1, 9999], "v": [1, 1, 9408]}
