"""Small files are read in the same way as larger ones, or left to other readers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdpbench.errors import BdpbenchError
from bdpbench.trace import read_output
from bdpbench.trace.reader import MOST_BYTES, OUTPUT_FORMATS, read_small

KEYS = {"cwnd": {"flow": 0}, "queue": {"link": "l"}, "sequence": {"flow": 1}, "red": {"link": "l"}}
_number = st.one_of(
    st.floats(allow_nan=True).map(repr),
    st.integers(-3, 10**20).map(str),
    st.sampled_from(["1.", ".5", "+1", "1_0", "0x1", "1e5", "1E-7", "nan", "inf", "-0", "1e999"]),
)
_line = st.tuples(
    st.lists(_number, min_size=1, max_size=4),
    st.sampled_from([" ", "\t", "  "]),
    st.sampled_from(["\n", " \n", "\r\n", "\n\n", ""]),
)


def _content(lines: list[tuple[list[str], str, str]]) -> bytes:
    return "".join(blank.join(words) + end for words, blank, end in lines).encode()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("small") / "x.out"


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(sorted(KEYS)), st.lists(_line, min_size=1, max_size=4))
def test_what_is_read_is_what_a_query_reads(
    path: Path, table: str, lines: list[tuple[list[str], str, str]]
) -> None:
    path.write_bytes(_content(lines))
    small = read_small(path, OUTPUT_FORMATS[table])
    if small is None:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bdpbench.trace.reader.read_small", lambda path, form: None)
        queried = read_output(path, table, **KEYS[table]).collect()
    assert small.equals(queried.select(small.columns))
    assert small.schema == queried.select(small.columns).schema


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1e300), st.integers(0, 10**18 - 1)), min_size=1))
def test_plain_numbers_are_read(path: Path, rows: list[tuple[float, int]]) -> None:
    rows.sort()
    path.write_text("".join(f"{time!r} {number} \n" for time, number in rows))
    found = read_small(path, OUTPUT_FORMATS["sequence"])
    rising = [number for _, number in rows] == sorted(number for _, number in rows)
    assert (found is not None) == rising
    assert found is None or found.rows() == rows


@pytest.mark.parametrize(
    ("table", "content"),
    [
        ("cwnd", b""),
        ("cwnd", b"0.1 1"),
        ("cwnd", b"0.2 1\n0.1 1\n"),
        ("cwnd", b"0.1 -1\n"),
        ("cwnd", b"0.1 1e999\n"),
        ("cwnd", b"0.1 1 2 3 4 5\n"),
        ("queue", b"0.1 1 2.5\n"),
        ("queue", b"0.1 1 9223372036854775808\n"),
        ("transfers", b"flow flow:0 0 1 10\n"),
        ("cwnd", b"0.1 1\n" * (MOST_BYTES // 6 + 1)),
    ],
)
def test_what_is_unusual_is_left_to_a_closer_look(path: Path, table: str, content: bytes) -> None:
    path.write_bytes(content)
    assert read_small(path, OUTPUT_FORMATS[table]) is None


def test_a_missing_file_is_told_by_the_reader(tmp_path: Path) -> None:
    with pytest.raises(BdpbenchError, match="No such file"):
        read_output(tmp_path / "none.out", "cwnd", flow=0)
