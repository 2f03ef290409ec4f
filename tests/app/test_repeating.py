"""`run --until-decided` with the real ns-2: repetitions are added look by look, and no more."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]
from tests.app.conftest import check_refused, said_by

Run = Callable[..., "subprocess.CompletedProcess[str]"]

CARD = "scorecard.json"
ROW = (
    "{id},,arithmetic,,random,protocol={protocol};substream=1,total_throughput,run,{value},{lower},{upper},"
    "Mbit/s,derived,chosen before,,a reason,,\n"
)


@pytest.fixture
def study(workspace: Path) -> Path:
    """Flows start at random times; those of Reno have 4.065 Mbit/s in the mean of two runs."""
    folder = workspace / "config" / "studies" / "dumbbell"
    declared = yaml.safe_load((folder / "study.yaml").read_text())
    declared["scenarios"] = {
        "random": {
            "title": "Flows with random starts",
            "topology": "small",
            "sweep": {"protocol": ["Reno", "Vegas"], "substream": [1, 2]},
            "flows": [{"count": 3, "start_within_s": 2}],
            "tiers": {"quick": [{"duration_s": 3}]},
        },
        "once": {
            "title": "One run",
            "topology": "small",
            "sweep": {"protocol": ["Reno"]},
            "flows": [{"count": 1}],
            "tiers": {"full": [{"duration_s": 1}]},
        },
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(declared, sort_keys=False))
    header = (folder / "published.csv").read_text().splitlines()[0] + "\n"
    rows = [
        ROW.format(id="open", protocol="Reno", value=4.065, lower=4.06499, upper=4.06501),
        ROW.format(id="decided", protocol="Vegas", value=5, lower=-1e9, upper=1e9),
    ]
    (folder / "published.csv").write_text(header + "".join(rows))
    return folder


def test_undecided_runs_alone_are_repeated_up_to_the_last_look(study: Path, bdpbench: Run) -> None:
    spread = "- {of: ['*'], varied: v, repeats: {runs: {random: random}, over: [substream]%s}}"
    (study / "spread.yaml").write_text(spread % "")
    asked = ("run", "--backend", "native", "--until-decided")
    check_refused(bdpbench(*asked), "no entry of spread.yaml has looks")
    (study / "spread.yaml").write_text(spread % ", looks: [2, 3, 5]")
    check_refused(bdpbench(*asked, "--tier", "full"), "no run of tier full is repeated")
    dry = said_by(bdpbench(*asked, "-n"))
    assert "2 runs to repeat, 6 repetitions up to the last look, if nothing is decided" in dry
    assert not (study / "repetitions.yaml").exists()

    # Bounds that two repetitions cannot reach, but three like these can.
    bdpbench(*asked[:-1])
    folder = study.parents[2] / "results" / "dumbbell" / "quick"
    known = {each["id"]: each for each in json.loads((folder / CARD).read_text())["numbers"]}
    middle, room = known["decided"]["measured"], 10 * known["decided"]["spread"][0]["deviation"]
    bounds = {"value": middle, "lower": middle - room, "upper": middle + room}
    with (study / "published.csv").open("a") as file:
        file.write(ROW.format(id="soon", protocol="Vegas", **bounds))
    said = said_by(bdpbench(*asked))
    assert said.count("1 run to repeat, 1 repetition for the next look") == 2
    assert "1 run to repeat, 2 repetitions for the next look" in said
    added = yaml.safe_load((study / "repetitions.yaml").read_text())
    first, last = ({"protocol": key, "substream": n} for key, n in (("Vegas", 3), ("Reno", 5)))
    assert added == {"random": [first, last]}
    card = json.loads((folder / CARD).read_text())
    counts = {each["id"]: each["spread"][0]["repetitions"] for each in card["numbers"]}
    assert counts == {"open": 5, "decided": 3, "soon": 3}
    assert "8 finished, 0 to simulate" in said_by(bdpbench(*asked))

    for text, line, what in (
        ("random:\n- {protocol: Reno}\n", 2, "substream is no number"),
        ("random:\n- {protocol: Nobody, substream: 5}\n", 2, "no run of random has this value"),
        ("random:\n- {protocol: Reno, substream: 5, x: 1}\n", 2, "unknown swept parameter 'x'"),
        ("rand: []\n", 1, "'random'"),
    ):
        (study / "repetitions.yaml").write_text(text)
        check_refused(bdpbench("list", "dumbbell"), f"repetitions.yaml:{line}: ", what)
