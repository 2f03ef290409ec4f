"""All metrics: those of bdpbench, and those that a study defines in its ``metrics.py``."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
import sys
import traceback
import types
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from bdpbench.contracts.files import read_text
from bdpbench.contracts.paths import config_dir
from bdpbench.errors import BdpbenchError
from bdpbench.metrics import cwnd, flows, links, response, runs, transfers
from bdpbench.metrics.definition import DECLARED, Definition, GroupMetric, Metric

STUDY_METRICS_NAME = "metrics.py"

_MODULES = (cwnd, links, flows, runs, transfers, response)


def _catalogue(definitions: Iterable[Definition], where: str = "") -> Mapping[str, Definition]:
    """Metric → definition.

    Raises:
        BdpbenchError: for a name that two metrics have, and for a metric of several runs that is
            based on an unknown one.
    """
    found: dict[str, Definition] = {}
    for each in definitions:
        if each.metric in found:
            raise BdpbenchError(f"metric {each.metric} is defined twice", where=where)
        found[each.metric] = each
    for each in found.values():
        for name in each.metrics if isinstance(each, GroupMetric) else ():
            if not isinstance(found.get(name), Metric):
                raise BdpbenchError(
                    f"metric {each.metric} is made of {name!r}, which is not a metric of a run",
                    where=where,
                )
    return types.MappingProxyType(found)


DEFINITIONS: Mapping[str, Definition] = _catalogue(
    each for module in _MODULES for each in DECLARED[module.__file__ or ""]
)
"""Metric → its definition, for the metrics that every study has, in the order of
metrics.parquet."""


def definitions_for(folder: Path) -> Mapping[str, Definition]:
    """The common metrics, followed by those of the study in ``folder``.

    Raises:
        BdpbenchError: when its ``metrics.py`` cannot be loaded or redefines a common metric.
    """
    path = folder.resolve() / STUDY_METRICS_NAME
    if not path.is_file():
        return DEFINITIONS
    return _with_study(path, hashlib.sha256(path.read_bytes()).hexdigest())


@cache
def _with_study(path: Path, sha256: str) -> Mapping[str, Definition]:
    own = (
        dataclasses.replace(each, code=sha256) if isinstance(each, Metric) else each
        for each in _declared(path, sha256)
    )
    return _catalogue([*DEFINITIONS.values(), *own], str(path))


def _declared(path: Path, sha256: str) -> Sequence[Definition]:
    """The metrics that the module at a path declares; who runs a foreign module is told before."""
    place = hashlib.sha256(f"{path}\0{sha256}".encode()).hexdigest()
    name = f"_bdpbench_study_{place[:16]}"  # an edited file is a new module
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BdpbenchError("is not a Python module", where=str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    DECLARED[str(path)] = []
    if not path.is_relative_to((config_dir() / "studies").resolve()):
        said = "is executed: the study's metrics are a program that can do anything you can do"
        print(f"{path}: {said}", file=sys.stderr, flush=True)
    try:
        # No __pycache__ is written into the checkout or a user's folder.
        exec(compile(read_text(path), str(path), "exec"), module.__dict__)  # noqa: S102
    except BdpbenchError:
        del sys.modules[name]
        raise
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        line = _line_of(error, path)
        raise BdpbenchError(
            f"the study's metrics cannot be loaded: {type(error).__name__}: {error}",
            where=f"{path}:{line}",
        ) from error
    return DECLARED[str(path)]


def _line_of(error: BaseException, path: Path) -> int:
    if isinstance(error, SyntaxError):
        return error.lineno or 1
    frames = traceback.extract_tb(error.__traceback__)
    return next((each.lineno or 1 for each in reversed(frames) if each.filename == str(path)), 1)


@cache
def common_code() -> str:
    """SHA-256 of this room and of the units: the code that any metric may reach."""
    room = Path(__file__).parent
    digest = hashlib.sha256()
    for path in (*sorted(room.rglob("*.py")), room.with_name("units.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def metrics_of(definitions: Mapping[str, Definition]) -> Sequence[Metric]:
    """The definitions of metrics of a single run."""
    return [each for each in definitions.values() if isinstance(each, Metric)]


def group_metrics_of(definitions: Mapping[str, Definition]) -> Sequence[GroupMetric]:
    """The definitions of metrics of several runs."""
    return [each for each in definitions.values() if isinstance(each, GroupMetric)]
