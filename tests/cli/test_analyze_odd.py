"""`analyze` on odd lines: no traceback, and no wrong number."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.data_of import data_of

from .test_analyze import Analyze, analyze, folder  # noqa: F401 - the fixtures


@pytest.mark.parametrize("case", data_of(__file__)["cases"], ids=lambda case: case["text"][:30])
def test_odd_lines_are_measured_or_refused(
    folder: Path,  # noqa: F811
    analyze: Analyze,  # noqa: F811
    case: dict[str, Any],
) -> None:
    (folder / "odd.tr").write_text(case["text"])
    done = analyze("odd.tr", *case.get("options", []), "-o", "odd.html")
    refused = case.get("refused", [])
    assert [each for each in refused if each not in done.err] == []
    assert done.code == bool(refused)
    said = re.sub(" +", " ", "\n".join(["", done.out]))
    assert [each for each in case.get("has", []) if each not in said] == []
    assert [each for each in case.get("lacks", []) if each in said] == []
    assert refused or case.get("page", "") in Path("odd.html").read_text()


def _cbr(gaps_s: list[float]) -> str:
    """Packets of 1000 bytes, each so long after the one before, over a link of 10 ms."""
    text, time_s = "", 1.0
    for uid, gap_s in enumerate(gaps_s):
        time_s = round(time_s + gap_s, 3)
        fields = f"0 1 cbr 1000 ------- 1 0.0 1.0 {uid} {uid}"
        text += f"+ {time_s} {fields}\n- {time_s} {fields}\nr {time_s + 0.01:.3f} {fields}\n"
    return text


def test_rounding_is_no_difference(folder: Path, analyze: Analyze) -> None:  # noqa: F811
    """Every packet takes 10 ms: the jitter of both is 0 but for the rounding of doubles."""
    (folder / "even.tr").write_text(_cbr([0.1] * 50))
    (folder / "odd.tr").write_text(_cbr([0.3, 0.7] * 3))
    lines = analyze("even.tr", "odd.tr", "--label", "a", "--label", "b").lines
    assert [line.split()[-4:] for line in lines if re.match("jitter .*[^.]$", line)] == [
        ["0", "0", "0", "-"]
    ]
    assert not any(cell == "-0" for line in lines for cell in line.split())


def test_a_place_where_time_runs_backwards_is_counted(folder: Path, analyze: Analyze) -> None:  # noqa: F811
    (folder / "twice.tr").write_text(_cbr([0.1]) * 2)
    assert "time runs backwards in 1 line" in analyze("twice.tr", "--lenient").lines
    # Of both halves, which are longer than what is read at once, a window has the first seconds.
    (folder / "long.tr").write_text(_cbr([0.001] * 3000) * 2)
    options = ("--lenient", "--window", "1:2", "--metric", "throughput")
    lines = analyze("long.tr", *options).lines
    # 989 packets of 1000 bytes arrive before 2 s, in each of the halves.
    assert ["throughput", "flow:1", "15.824", "Mbit/s"] in [line.split() for line in lines]
