"""`bdpbench check`: whether a scorecard is as the study expects."""

from __future__ import annotations

from bdpbench.app.planning import Paths
from bdpbench.app.totals import totals_lines
from bdpbench.contracts.paths import results_dir
from bdpbench.contracts.scorecard import SCORECARD_NAME, read_scorecard
from bdpbench.errors import BdpbenchError
from bdpbench.studies.config import load_config
from bdpbench.studies.load import find_study


def check_scorecard(study: str | None, tier: str | None) -> None:
    """Print the totals of a tier's scorecard.

    Raises:
        BdpbenchError: naming each number that is not reproduced and not a known miss, each known
            miss that was reproduced after all, and each claim that fails; or when nothing was run.
    """
    config = load_config()
    key = find_study(study or config.study).name
    paths = Paths(results_dir(config.results), key, tier or config.tier)
    scorecard = read_scorecard(paths.folder / SCORECARD_NAME)
    for line in totals_lines(scorecard):
        print(line)
    problems = [
        f"{number['id']}: published {number['published']:g}, measured {number['measured']}"
        for number in scorecard["numbers"]
        if number["verdict"] == "not_reproduced" and not number["known_miss"]
    ]
    problems += [
        f"{number['id']}: is a known miss, but was reproduced: correct published.csv"
        for number in scorecard["numbers"]
        if number["verdict"] == "reproduced" and number["known_miss"]
    ]
    problems += [
        f"{claim['id']}: {claim['explanation']}"
        for claim in scorecard["claims"]
        if claim["verdict"] == "fails" and not claim["known_miss"]
    ]
    if not any(number["verdict"] != "not_run" for number in scorecard["numbers"]):
        problems.append("no number of the study was run")
    if problems:
        raise BdpbenchError("\n  ".join(["unexpected:", *problems]), where=str(paths.folder))
