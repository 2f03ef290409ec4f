"""All metrics: those of bdpbench, and those that a study defines in its ``metrics.py``."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
import types
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from bdpbench.contracts.caches import cached
from bdpbench.errors import BdpbenchError
from bdpbench.metrics import (
    cuts,
    cwnd,
    delays,
    friendliness,
    losses,
    pairs,
    queueing,
    red,
    response,
    sharing,
    slow_start,
    stationarity,
    sweeps,
    synchronization,
    throughput,
    traced,
    transfers,
    utilization,
)
from bdpbench.metrics.definition import Definition, GroupMetric, Metric

STUDY_METRICS_NAME = "metrics.py"

_MODULES = (
    cwnd,
    cuts,
    utilization,
    queueing,
    delays,
    red,
    losses,
    slow_start,
    throughput,
    sharing,
    friendliness,
    stationarity,
    synchronization,
    transfers,
    response,
    traced,
    sweeps,
    pairs,
)


def metrics_in(module: types.ModuleType) -> list[Definition]:
    """The metrics that a module defines, in order."""
    return [
        each
        for each in vars(module).values()
        if isinstance(each, (Metric, GroupMetric)) and each.compute.__module__ == module.__name__
    ]


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
    each for module in _MODULES for each in metrics_in(module)
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
    own = metrics_in(_load(path, sha256))
    return _catalogue([*DEFINITIONS.values(), *own], str(path))


def _load(path: Path, sha256: str) -> types.ModuleType:
    """The module at a path; its name depends on its content, so an edited file is a new module."""
    place = hashlib.sha256(f"{path}\0{sha256}".encode()).hexdigest()
    name = f"_bdpbench_study_{place[:16]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BdpbenchError("is not a Python module", where=str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        # No __pycache__ is written into the checkout or a user's folder.
        exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)  # noqa: S102
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
    return module


def _line_of(error: BaseException, path: Path) -> int:
    if isinstance(error, SyntaxError):
        return error.lineno or 1
    frames = traceback.extract_tb(error.__traceback__)
    return next((each.lineno or 1 for each in reversed(frames) if each.filename == str(path)), 1)


def code_of(metric: Metric) -> str:
    """SHA-256 of the code of a metric; those of the common metrics are cached together."""
    if DEFINITIONS.get(metric.metric) is metric:
        return _common_digests()[metric.metric]
    return metric.digest


@cache
def _common_digests() -> dict[str, str]:
    """Metric → SHA-256 of its code, which can only reach this room and the module of units."""
    room = Path(__file__).parent
    sources = {path.relative_to(room).as_posix(): path for path in sorted(room.rglob("*.py"))}
    sources["units"] = room.with_name("units.py")
    return cached(
        "metric-digests",
        [part for name, path in sources.items() for part in (name.encode(), path.read_bytes())],
        lambda: {each.metric: each.digest for each in metrics_of(DEFINITIONS)},
    )


def metrics_of(definitions: Mapping[str, Definition]) -> Sequence[Metric]:
    """The definitions of metrics of a single run."""
    return [each for each in definitions.values() if isinstance(each, Metric)]


def group_metrics_of(definitions: Mapping[str, Definition]) -> Sequence[GroupMetric]:
    """The definitions of metrics of several runs."""
    return [each for each in definitions.values() if isinstance(each, GroupMetric)]
