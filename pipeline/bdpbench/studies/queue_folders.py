"""Queues that are folders: ``queue.yaml`` describes one, ``discipline.cc`` is what it does.

A study names the folder, ``queues: {Mine: {folder: ../mine}}``. Its queue is a subclass of
``Queue/Discipline``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from pydantic import field_validator

from bdpbench.contracts.plan import QUEUE
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.studies.component_folders import (
    ComponentFile,
    ComponentFolder,
    Parameter,
    named_folders,
)
from bdpbench.studies.queues import Limit, QueueKind, QueueParameter
from bdpbench.units import MOST_VARIABLE

# Variables that ns-2's class, its recorder and this module have already.
_TAKEN = frozenset(
    {
        *("limit_", "blocked_", "unblock_on_resume_", "util_weight_", "util_check_intv_"),
        *("util_records_", "debug_", "discipline_", "setbit_", "markpkts_", "random_"),
        *("ave_", "cur_max_p_", "queue_in_bytes_", "mean_pktsize_"),
    }
)


class QueueFile(ComponentFile):
    """Content of ``queue.yaml``.

    Attributes:
        marks: whether it marks packets where ECN is on.
        random: whether it uses random numbers.
    """

    marks: bool = False
    random: bool = False

    @field_validator("parameters")
    @classmethod
    def _variables_are_its_own(cls, parameters: list[Parameter]) -> list[Parameter]:
        for each in parameters:
            if each.variable in _TAKEN:
                raise ValueError(f"{each.variable} is a variable of every queue: choose another")
        return parameters


@dataclass(frozen=True)
class QueueFolder(ComponentFolder):
    """A folder with ``queue.yaml`` and C++ files."""

    kind, code_name, code_names = "queue", "discipline.cc", "discipline.cc"
    header = "queue_discipline.h"

    @cached_property
    def file(self) -> QueueFile:
        """Its description."""
        return YamlFile(self.path / self.yaml_name).validate(QueueFile)

    @property
    def base(self) -> str:
        """The class of its queue's parent."""
        return f"Queue/{QUEUE}"

    @property
    def fixed(self) -> Mapping[str, float]:
        """What tells ns-2 whether it may mark packets and use random numbers."""
        marks = {"setbit_": 0.0} if self.file.marks else {}
        return {**marks, **({"random_": 1.0} if self.file.random else {})}

    @property
    def queue(self) -> QueueKind:
        """The kind of queue that it is."""
        return QueueKind(
            ns2_class=f"{QUEUE}/{self.name}",
            text=self.file.summary,
            parameters={name: _parameter(name, each) for name, each in self.file.variables.items()},
            limit=Limit(),
            fixed={"random_": 1.0} if self.file.random else {},
            ecn="setbit_" if self.file.marks else "",
            random=self.file.random,
        )


def _parameter(name: str, said: Parameter) -> QueueParameter:
    least, most = said.range or (-MOST_VARIABLE, MOST_VARIABLE)
    return QueueParameter(name, said.meaning, said.default, least, most)


def fill_queues(source: YamlFile) -> None:
    """Give each queue of a ``study.yaml`` that names a folder its path and its label.

    Raises:
        BdpbenchError: naming file and line, when a folder is not one of a queue, or when the study
            sets what it decides.
    """
    for key, folder in named_folders(source, QueueFolder):
        entries = source.data["queues"]
        if "kind" in entries[key]:
            raise source.error(("queues", key, "kind"), "the queue's folder decides this")
        entries[key] = {"label": folder.file.label, **entries[key], "folder": str(folder.path)}
