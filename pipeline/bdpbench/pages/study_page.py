"""``page.yaml`` of a study: what its report says in addition to what all reports say."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.studies.labels import swept_names
from bdpbench.studies.study import Study, known_or_suggest

_DERIVED = ("bdp_pkts",)
"""Parameters of runs that studies do not declare."""

Text = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class Statement(_Strict):
    """A statement of the study about a protocol, in our words."""

    where: Text
    text: Text


class ProtocolText(_Strict):
    """What the page of a protocol says for this study.

    Attributes:
        said: statements of the study.
    """

    said: list[Statement] = Field(default_factory=list)


class StudyPage(_Strict):
    """The content of ``page.yaml``.

    Attributes:
        choices: what our simulation chose where the study leaves a choice, in some three sentences
            at the head of the report.
        filled_share: share of the BDP or of the capacity above which the study considers a path
            filled; a dashed line is drawn there.
        parameters: the study's own parameters in words.
        protocol_sweeps: swept parameter → metrics that the page of a protocol shows over it, in
            addition to those of ``reports/captions.yaml``.
        protocols: key → text of its page.
    """

    choices: Text = ""
    filled_share: float | None = Field(None, gt=0, le=1)
    parameters: dict[str, Text] = Field(default_factory=dict)
    protocol_sweeps: dict[str, list[Text]] = Field(default_factory=dict)
    protocols: dict[str, ProtocolText] = Field(default_factory=dict)

    def of(self, protocol: str) -> ProtocolText:
        """The text about a protocol."""
        return self.protocols.get(protocol, ProtocolText())


def load_page(path: Path, study: Study, metrics: Collection[str]) -> StudyPage:
    """Read and check ``page.yaml``; a study without the file has no texts of its own.

    Args:
        path: path of the file.
        study: the study of the file.
        metrics: names of all metrics, as in ``published.csv``.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong.
    """
    if not path.is_file():
        return StudyPage()
    source = YamlFile(path)
    page = source.validate(StudyPage)
    given, swept = _parameters_of(study)
    wanted = [
        *((("parameters", name), name, given, "parameter of a run") for name in page.parameters),
        *(
            (("protocol_sweeps", name), name, swept, "swept parameter")
            for name in page.protocol_sweeps
        ),
        *((("protocols", key), key, study.protocols, "protocol") for key in page.protocols),
        *(
            (("protocol_sweeps", parameter, index), metric, metrics, "metric")
            for parameter, shown in page.protocol_sweeps.items()
            for index, metric in enumerate(shown)
        ),
    ]
    for place, name, known, what in wanted:
        unknown = known_or_suggest(name, known, what)
        if unknown:
            raise source.error(place, unknown[0], hint=unknown[1])
    return page


def _parameters_of(study: Study) -> tuple[set[str], set[str]]:
    """The parameters that runs have, and those in which runs of a scenario differ."""
    swept = {name for each in study.scenarios.values() for name in swept_names(each)}
    of_paths = (each.parameters for each in study.topologies.values())
    of_scenarios = (each.parameters for each in study.scenarios.values())
    return swept.union(_DERIVED, *of_paths, *of_scenarios), swept
