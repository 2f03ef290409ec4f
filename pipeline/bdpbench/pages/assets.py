"""Files under ``reports/``: templates, style sheet, script and captions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.errors import BdpbenchError


@dataclass(frozen=True)
class Captions:
    """The report's own words, see ``reports/captions.yaml``.

    Attributes:
        charts: kind of chart → ``title``, ``quantity``, ``caption``.
        thresholds: kind of dashed line → its name.
        parameters: run parameter → its name.
        pairs: the matrix of pairs of protocols, see ``Matrix``, for studies that declare none.
        protocol_sweeps: swept parameter → metrics that the page of a protocol shows over it.
    """

    charts: Mapping[str, Mapping[str, str]]
    thresholds: Mapping[str, str]
    parameters: Mapping[str, str]
    pairs: Mapping[str, object]
    protocol_sweeps: Mapping[str, Sequence[str]]


def assets_dir() -> Path:
    """Folder of templates, style sheet, script and captions."""
    return repository_root() / "reports"


def read_captions() -> Captions:
    """Read ``reports/captions.yaml``.

    Raises:
        BdpbenchError: when it is missing or lacks a section.
    """
    path = assets_dir() / "captions.yaml"
    read_asset("captions.yaml")
    content = YamlFile(path).data or {}
    try:
        return Captions(**content)
    except TypeError as error:
        raise BdpbenchError(f"has the wrong sections ({error})", where=str(path)) from None


def read_asset(name: str) -> str:
    """Text of a file under ``reports/``.

    Raises:
        BdpbenchError: when the file is missing or cannot be read.
    """
    path = assets_dir() / name
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise BdpbenchError(
            f"a file that every report needs cannot be read ({error.strerror})",
            where=str(path),
            hint="restore it from the repository, or point BDPBENCH_ROOT at a checkout",
        ) from None
