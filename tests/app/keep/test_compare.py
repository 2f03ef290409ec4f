"""Kept results are read, and compared by bounds that can be checked by hand."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bdpbench.app.keep.compare import KEY, Side, compare, read_sides
from bdpbench.app.keep.results import KeptResults
from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.reports import KEPT_VERSION, Comparison, kept_runs_bytes
from bdpbench.errors import BdpbenchError

METRIC = "time_to_90pct_cwnd"
SCHEMA: dict[str, Any] = {
    **dict.fromkeys((*KEY, "unit", "definition", "number"), pl.String),
    **dict.fromkeys(("value", "lower", "upper"), pl.Float64),
    "by_chance": pl.Boolean,
}


def _value(value: float | None, **given: object) -> dict[str, object]:
    """A row of the values of a side."""
    bounds = dict.fromkeys(("number", "lower", "upper", "by_chance"))
    of = {"scenario": "single_flow", "run": "HS-TCP", "metric": METRIC, "subject": "flow:0"}
    return {**of, "value": value, "unit": "s", "definition": f"{METRIC}/1", **bounds, **given}


def _side(*rows: dict[str, object], **given: object) -> Side:
    values = pl.DataFrame(rows, schema=SCHEMA)
    return Side(**{"name": "a", "values": values, "facts": {}, **given})  # type: ignore[arg-type]


def _compare(
    a: float | None, b: float | None, *bounds: float, by_chance: bool = False
) -> Comparison:
    given = dict(zip(("lower", "upper"), bounds, strict=False))
    held = {"number": "t1-hs", "by_chance": by_chance, **given} if bounds else {}
    return compare(_side(_value(a, **held)), _side(_value(b)))


@pytest.mark.parametrize(
    ("a", "b", "bounds", "beyond"),
    [
        # With a published number, what counts is the side of its bounds, not the distance.
        (14.57, 14.60, (14.48, 14.68), False),
        (14.67, 14.69, (14.48, 14.68), True),
        (14.69, 14.67, (14.48, 14.68), True),
        (10.0, 20.0, (14.48, 14.68), True),
        # Outside the bounds before and after: 5 % of 20 s is 1 s.
        (20.0, 20.9, (14.48, 14.68), False),
        (20.0, 21.1, (14.48, 14.68), True),
        # Without a published number: 5 % of 10 s is 0.5 s.
        (10.0, 10.4, (), False),
        (10.0, 10.6, (), True),
        (10.0, 9.6, (), False),
        (10.0, 9.4, (), True),
        (0.0, 1e-6, (), True),
        # What binary rounding leaves of a sum that should be 0.
        (1.05e-16, 0.0, (), False),
        # Reached in only one of the two.
        (None, 14.0, (14.48, 14.68), True),
        (14.5, None, (), True),
    ],
)
def test_what_is_beyond(
    a: float | None, b: float | None, bounds: tuple[float, ...], beyond: bool
) -> None:
    found = _compare(a, b, *bounds)
    assert [each["beyond"] for each in found["moved"]] == [beyond]


def test_what_is_undecided_by_chance_may_cross_its_bounds() -> None:
    (moved,) = _compare(14.5, 14.7, 14.48, 14.68, by_chance=True)["moved"]
    assert not moved["beyond"]
    assert moved["why"] == "within to above its bounds, which is undecided by chance"


def test_a_tolerance_may_be_chosen_and_asymmetries_are_held_to_a_distance() -> None:
    for share, beyond in ((0.03, 1), (0.05, 0)):
        assert compare(_side(_value(10.0)), _side(_value(10.4)), share)["beyond"] == beyond
    for b, beyond in ((0.04, 0), (0.06, 1)):
        sides = [_side(_value(value, metric="asymmetry", subject="run")) for value in (0.0, b)]
        assert compare(*sides)["beyond"] == beyond


@given(
    value=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    bounds=st.none() | st.tuples(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9)),
)
def test_equal_values_never_move(value: float | None, bounds: tuple[float, float] | None) -> None:
    found = _compare(value, value, *(sorted(bounds) if bounds else ()))
    assert (found["compared"], found["moved"]) == (1, [])


def test_what_is_transferred_and_how_it_is_shared_comes_first_then_the_largest_change() -> None:
    moved = {"total_throughput_drift": 9.0, "goodput": 1.2, "mean_queue": 3.0, "utilization": 1.1,
             "jain_index": 1.3, "throughput": 1.01}  # fmt: skip
    before = _side(*(_value(1.0, metric=name) for name in moved))
    after = _side(*(_value(moved[name], metric=name) for name in moved))
    found = [each["metric"] for each in compare(before, after)["moved"]]
    others = ["total_throughput_drift", "mean_queue"]
    assert found == ["jain_index", "goodput", "utilization", *others, "throughput"]


def test_what_cannot_be_compared_is_told() -> None:
    """A metric in another unit, a value that one side has alone, and another build."""
    other = _value(9000.0, unit="ms", definition=f"{METRIC}/2")
    alone = _value(1.0, metric="goodput")
    first = _side(_value(9.0), facts={"ns-2 build": "1"})
    found = compare(first, _side(other, alone, facts={"ns-2 build": "2"}))
    told = {"first": f"{METRIC}/1 in s", "second": f"{METRIC}/2 in ms"}
    assert (found["compared"], found["moved"]) == (0, [])
    assert found["redefined"] == [{"metric": METRIC, **told}]
    only = {"scenario": "single_flow", "metric": "goodput", "values": 1}
    assert (found["only_first"], found["only_second"]) == ([], [only])
    assert found["facts"] == [{"name": "ns-2 build", "first": "1", "second": "2"}]


# ---------------------------------------------------------------- results as files

KEPT = repository_root() / "tests" / "data" / "kept"
VALUES = 188
PUBLISHED = (repository_root() / "reports" / "published").glob("*/scorecard.json")


def _compare_files(first: Path, second: Path) -> Comparison:
    return compare(*read_sides(first, second))


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A copy of a published folder."""
    return Path(shutil.copytree(KEPT, tmp_path / "kept"))


def test_what_is_published_is_compared() -> None:
    folders = [path.parent for path in PUBLISHED]
    assert all(KeptResults(each).provenance for each in folders)
    # The smallest one stands for all, whose runs and metrics tests/studies reads.
    folder = min(folders, key=lambda each: (each / "runs.parquet").stat().st_size)
    found = _compare_files(folder, folder)
    card = json.loads((folder / "scorecard.json").read_text())
    assert found["compared"] > len(card["numbers"])
    assert (found["moved"], found["facts"]) == ([], [])


def _changed(content: bytes, **change: Any) -> bytes:
    return json.dumps({**json.loads(content), **change}).encode()


def _without(content: bytes, key: str) -> bytes:
    return json.dumps({k: v for k, v in json.loads(content).items() if k != key}).encode()


def _table(content: bytes, change: Callable[[pl.DataFrame], pl.DataFrame]) -> bytes:
    stream = io.BytesIO()
    change(pl.read_parquet(content)).write_parquet(stream)
    return stream.getvalue()


LATER = pl.lit(KEPT_VERSION + 1)


@pytest.mark.parametrize(
    ("name", "damage", "said"),
    [
        ("scorecard.json", None, "has no scorecard.json"),
        ("runs.parquet", None, "has no runs.parquet"),
        ("provenance.json", None, "has no provenance.json"),
        ("provenance.json", lambda old: _changed(old, schema_version=4), "has schema version 4"),
        ("scorecard.json", lambda old: _changed(old, schema_version=4), "has schema version 4"),
        ("provenance.json", lambda old: _without(old, "builds"), "is damaged: builds is missing"),
        ("scorecard.json", lambda old: _without(old, "numbers"), "is damaged: numbers is missing"),
        ("runs.parquet", lambda old: old[:-9], "is not a table of the runs"),
        (
            "runs.parquet",
            lambda old: _table(old, lambda frame: frame.rename({"outputs": "files"})),
            "run 1: is damaged",
        ),
        (
            "runs.parquet",
            lambda old: _table(old, lambda frame: frame.with_columns(schema_version=LATER)),
            "is of a version that this bdpbench does not read",
        ),
    ],
)
def test_what_is_missing_damaged_or_of_another_version_is_no_result(
    kept: Path, name: str, damage: Callable[[bytes], bytes] | None, said: str
) -> None:
    content = (kept / name).read_bytes()
    (kept / name).unlink()
    if damage:
        (kept / name).write_bytes(damage(content))
    with pytest.raises(BdpbenchError, match=said):
        read_sides(KEPT, kept)


def test_runs_are_kept_as_they_are(kept: Path) -> None:
    runs = KeptResults(kept).runs
    (kept / "runs.parquet").write_bytes(kept_runs_bytes(runs))
    assert KeptResults(kept).runs == runs
    frame, metrics = (pl.read_parquet(kept / f"{name}.parquet") for name in ("runs", "metrics"))
    assert metrics.join(frame, on="run_id").height == metrics.height == VALUES
