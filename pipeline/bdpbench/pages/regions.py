"""``regions.yaml`` of a study: how fair it found pairs of protocols, where it prints no numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.studies.study import Study, known_or_suggest

Level = Annotated[int, Field(ge=1)]


class Regions(BaseModel):
    """Levels of fairness of pairs.

    Attributes:
        scenario: whose pairs they are.
        where: figure and section.
        levels: the largest level, the least fair one; 1 is the fairest.
        note: what else a reader of the chart should know.
        pairs: protocol that starts first → second protocol → level; others are not stated.
        ranking: protocols from the fairest to the least fair, those of equal rank together.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    scenario: str
    where: str
    levels: Level
    note: str = ""
    pairs: dict[str, dict[str, Level]]
    ranking: list[list[str]] = Field(default_factory=list)

    def rank(self, protocol: str) -> int | None:
        """Rank of a protocol, 1 being the fairest; equal ranks leave out the next ones."""
        before = 0
        for alike in self.ranking:
            if protocol in alike:
                return before + 1
            before += len(alike)
        return None


def load_regions(path: Path, study: Study) -> Regions | None:
    """Read and check ``regions.yaml``; None for a study without it.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong.
    """
    if not path.is_file():
        return None
    source = YamlFile(path)
    regions = source.validate(Regions)
    _check_known(source, ("scenario",), regions.scenario, list(study.scenarios), "scenario")
    for first, seconds in regions.pairs.items():
        _check_known(source, ("pairs", first), first, list(study.protocols), "protocol")
        for second, level in seconds.items():
            place = ("pairs", first, second)
            _check_known(source, place, second, list(study.protocols), "protocol")
            if level > regions.levels:
                raise source.error(place, f"{level} is more than levels, {regions.levels}")
    for index, alike in enumerate(regions.ranking):
        for protocol in alike:
            _check_known(source, ("ranking", index), protocol, list(study.protocols), "protocol")
    return regions


def _check_known(
    source: YamlFile, place: tuple[str | int, ...], name: str, known: list[str], what: str
) -> None:
    unknown = known_or_suggest(name, known, what)
    if unknown:
        raise source.error(place, unknown[0], hint=unknown[1])
