"""published.csv is read strictly: errors are reported with their line and column."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.pipeline.score.conftest import write_published

from bdpbench.errors import BdpbenchError
from bdpbench.score import load_published
from bdpbench.score.published import COLUMNS

METRICS = {"utilization", "asymmetry"}
ROW = {
    "id": "u",
    "part_of": "",
    "where": "Table 1",
    "page": "98",
    "scenario": "one",
    "select": "protocol=HS; buffer_pkts=40",
    "metric": "utilization",
    "subject": "link:bottleneck",
    "value": "88.76",
    "lower": "88",
    "upper": "89",
    "unit": "%",
    "how": "stated",
    "found": "stated",
    "chosen_on": "",
    "why": "a reason",
    "known_miss": "",
    "note": "",
}


def test_a_row_is_read(tmp_path: Path) -> None:
    (number,) = load_published(write_published(tmp_path / "p.csv", ROW), METRICS)
    assert number.select == {"protocol": "HS", "buffer_pkts": "40"}
    assert (number.value, number.lower, number.upper) == (88.76, 88, 89)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"value": "87"}, r"p\.csv:2: value: 87 is not within \[88, 89\]"),
        ({"value": "many"}, "value: expected a number, got 'many'"),
        ({"upper": "nan"}, "upper: expected a number"),
        ({"metric": "utilisation"}, r"unknown metric 'utilisation'\n.*did you mean 'utilization'"),
        ({"how": "guessed"}, "how: expected one of stated"),
        ({"why": ""}, "why: is empty"),
        ({"found": ""}, r"p\.csv:2: found: is empty.*\n.*`stated` by the study"),
        ({"found": "chosen"}, r"found: unknown word 'chosen'.*\n.*one of: stated, chosen before"),
        ({"found": "chosen on"}, "chosen_on: is empty; on which numbers"),
        ({"chosen_on": "u"}, "chosen_on: is given for a definition that is 'stated'"),
        ({"part_of": "v"}, "part_of: no other row belongs to 'v'"),
        ({"part_of": "u"}, "part_of: 'u' is the id of a row"),
        ({"select": "protocol:HS"}, "select: expected parameter=value"),
    ],
)
def test_a_slip_is_told(tmp_path: Path, change: dict[str, str], said: str) -> None:
    path = write_published(tmp_path / "p.csv", {**ROW, **change})
    with pytest.raises(BdpbenchError, match=said):
        load_published(path, METRICS)


def test_rows_of_one_printed_number_say_the_same_of_it(tmp_path: Path) -> None:
    first = {**ROW, "id": "a", "part_of": "u"}
    second = {**ROW, "id": "b", "part_of": "u", "select": "protocol=BIC"}
    numbers = load_published(write_published(tmp_path / "p.csv", first, second), METRICS)
    assert [number.part_of for number in numbers] == ["u", "u"]
    with pytest.raises(
        BdpbenchError, match=r"p\.csv:3: upper: differs from that of a, which belongs to the"
    ):
        load_published(
            write_published(tmp_path / "p.csv", first, {**second, "upper": "90"}), METRICS
        )
    other = [{**ROW, "id": each, "part_of": "uu"} for each in "cd"]
    alone = write_published(tmp_path / "p.csv", {**ROW, "id": "a", "part_of": "u"}, *other)
    with pytest.raises(BdpbenchError, match=r"no other row belongs to 'u'\n.*did you mean 'uu'"):
        load_published(alone, METRICS)
    changed = write_published(tmp_path / "p.csv", first, {**second, "found": "chosen before"})
    with pytest.raises(BdpbenchError, match=r"p\.csv:3: found: differs from that of a"):
        load_published(changed, METRICS)


def test_an_id_appears_once(tmp_path: Path) -> None:
    with pytest.raises(BdpbenchError, match=r"p\.csv:3: id: 'u' appears twice"):
        load_published(write_published(tmp_path / "p.csv", ROW, ROW), METRICS)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ((*COLUMNS[:-1], "nota"), "nota: unknown column\n.*did you mean 'note'"),
        (COLUMNS[:-1], "note: expected this column once"),
    ],
)
def test_the_header_is_checked(tmp_path: Path, header: tuple[str, ...], said: str) -> None:
    with pytest.raises(BdpbenchError, match=said):
        load_published(write_published(tmp_path / "p.csv", ROW, header=header), METRICS)


def test_a_line_with_too_few_cells_is_told(tmp_path: Path) -> None:
    path = write_published(tmp_path / "p.csv", ROW)
    path.write_text(path.read_text() + "x,y\n")
    with pytest.raises(BdpbenchError, match=r"p\.csv:3: line: has 2 cells, not 18"):
        load_published(path, METRICS)


def test_a_file_that_is_not_utf8_is_told(tmp_path: Path) -> None:
    path = write_published(tmp_path / "p.csv", ROW)
    path.write_bytes(path.read_bytes() + "größer".encode("latin-1"))
    with pytest.raises(BdpbenchError, match=r"p\.csv:3: is not UTF-8 text"):
        load_published(path, METRICS)
