"""Sections about the queues that a study brings along as folders: their rules and parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bdpbench.pages.inputs import ReportData
from bdpbench.pages.protocols import parameter_row
from bdpbench.studies.folders import Parameter, QueueFile, QueueFolder
from bdpbench.studies.study import QueueDeclaration


@dataclass(frozen=True)
class QueuePage:
    """What the page shows about a queue.

    Attributes:
        key, label: key and label of the queue in the study.
        data: its description.
        parameters: rows as those of protocols.
    """

    key: str
    label: str
    data: QueueFile
    parameters: tuple[Mapping[str, object], ...]


def queue_pages(data: ReportData) -> list[QueuePage]:
    """Pages of the queues that are folders, in the order of the study.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong in a folder.
    """
    return [
        _page(key, queue, data) for key, queue in data.inputs.study.queues.items() if queue.folder
    ]


def _page(key: str, queue: QueueDeclaration, data: ReportData) -> QueuePage:
    file = QueueFolder(Path(queue.folder)).file
    rows = tuple(parameter_row(each, _values(each, queue, data)) for each in file.parameters)
    return QueuePage(key, queue.label or key, file, rows)


def _values(parameter: Parameter, queue: QueueDeclaration, data: ReportData) -> list[float]:
    """Values of a parameter in the study, ascending; several if it is swept."""
    said = queue.settings.get(parameter.variable, parameter.default)
    if not isinstance(said, str):
        return [said]
    runs = data.inputs.plan["runs"]
    found = {run["parameters"].get(said.removeprefix("$")) for run in runs}
    return sorted(value for value in found if isinstance(value, int | float))
