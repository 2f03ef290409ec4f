"""``causes.yaml``: why statements fail, with values of runs that show it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from pydantic import Field, RootModel

from bdpbench.contracts.scorecard import ScoredCause
from bdpbench.contracts.yaml_files import Strict, Text, YamlFile
from bdpbench.score.claims import Selector
from bdpbench.score.lookup import Lookup

CAUSES_NAME = "causes.yaml"


class Cause(Strict):
    """One cause, which may be that none is known.

    Attributes:
        cause: its name, a few words.
        text: what it is, in a sentence or two.
        of: ids of the statements that fail by it.
        shown: values that show it: metrics of single runs, or means of several.
    """

    cause: Text
    text: Text
    of: list[Text] = Field(min_length=1)
    shown: list[Selector] = Field(default_factory=list)

    def scored(self, lookup: Lookup) -> ScoredCause:
        """The cause with those of its values whose runs are there."""
        found = [(each, each.found(lookup)) for each in self.shown]
        evidence = [
            value.evidence(
                each.metric if each.subject in (None, "run") else f"{each.metric} of {each.subject}"
            )
            for each, value in found
            if value is not None
        ]
        return {"cause": self.cause, "text": self.text, "of": self.of, "evidence": evidence}


class _File(RootModel[list[Cause]]):
    pass


def load_causes(path: Path, claims: Collection[str], metrics: Collection[str]) -> list[Cause]:
    """Read and check ``causes.yaml``; a study without the file names no causes.

    Args:
        path: path of the file.
        claims: ids of the statements.
        metrics: ids of all metrics.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong.
    """
    if not path.is_file():
        return []
    source = YamlFile(path)
    causes = source.validate(_File).root
    known: dict[str, str] = {}
    for index, each in enumerate(causes):
        for place, claim in enumerate(each.of):
            source.require((index, "of", place), claim, claims, "statement")
            if claim in known:
                hint = "a statement has one cause: the one that decides"
                said = f"{known[claim]!r} explains {claim}, too"
                raise source.error((index, "of", place), said, hint)
            known[claim] = each.cause
        for place, asked in enumerate(each.shown):
            at = (index, "shown", place, "metric")
            source.require(at, asked.metric, metrics, "metric")
    return causes
