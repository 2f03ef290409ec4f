"""Computes metrics of runs and of groups of runs.

What a value of a run depends on is its tables, its parameters and code: that of this room and, if
its study has a ``metrics.py``, that of the study. The file can import nothing else, but for what is
installed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import itertools
import sys
import sysconfig
import traceback
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

import polars as pl

from bdpbench.contracts.files import read_text, sha256_of
from bdpbench.contracts.paths import config_dir, package_dir
from bdpbench.contracts.plan import PlannedRun, Scalar
from bdpbench.contracts.runs import TABLE_KEYS
from bdpbench.errors import BdpbenchError
from bdpbench.metrics import flows, links, runs
from bdpbench.metrics.definition import DECLARED, Definition, GroupMetric, Metric
from bdpbench.metrics.groups import Group, Row, Sweeps
from bdpbench.metrics.views import FlowView, LinkView, RunView

STUDY_METRICS_NAME = "metrics.py"

_MODULES = (flows, links, runs)


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
    return _with_study(path, _own_code(folder).hex())


@cache
def _with_study(path: Path, sha256: str) -> Mapping[str, Definition]:
    return _catalogue([*DEFINITIONS.values(), *_declared(path, sha256)], str(path))


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
    if not path.is_relative_to(config_dir()):
        said = "is executed: the study's metrics are a program that can do anything you can do"
        print(f"{path}: {said}", file=sys.stderr, flush=True)
    try:
        with _imports_of(path):
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


@contextmanager
def _imports_of(path: Path) -> Iterator[None]:
    """Let a study's metrics import modules of its folder, without a trace in other studies.

    Raises:
        BdpbenchError: when they import anything else than these and installed packages.
    """
    known, places, writes = {*sys.modules}, [*sys.path], sys.dont_write_bytecode
    own = {each.resolve() for each in own_files(path.parent)}
    sys.path.append(str(path.parent))
    sys.dont_write_bytecode = True  # no __pycache__ in the checkout or a user's folder
    try:
        yield
    finally:
        sys.path[:], sys.dont_write_bytecode = places, writes
        found = {name: sys.modules[name] for name in {*sys.modules} - known}
        others = {name: file for name, each in found.items() if (file := _own_place(each))}
        for name in others:  # another study may have one of this name
            del sys.modules[name]
    for name, file in sorted(others.items()):
        if file not in own and not file.is_dir():
            raise BdpbenchError(
                f"imports {name}, which is neither Python code of the study nor installed: {file}",
                where=str(path),
                hint="put it into the study's folder as a .py file, so that a change of it counts",
            )


def own_files(folder: Path) -> list[Path]:
    """The Python files of a study, which its ``metrics.py`` may import."""
    names = ((f"/{each.relative_to(folder).as_posix()}", each) for each in folder.rglob("*.py"))
    return sorted(each for name, each in names if "/." not in name)


def _own_place(module: types.ModuleType) -> Path | None:
    """The file of a module, or the folder of one without a file; None if it is installed."""
    found = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
    file = None if found is None else Path(found).resolve()
    if file is None or not {"site-packages", "dist-packages"}.isdisjoint(file.parts):
        return None
    standard = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), package_dir())
    return None if any(file.is_relative_to(Path(each).resolve()) for each in standard) else file


def _line_of(error: BaseException, path: Path) -> int:
    if isinstance(error, SyntaxError):
        return error.lineno or 1
    frames = traceback.extract_tb(error.__traceback__)
    return next((each.lineno or 1 for each in reversed(frames) if each.filename == str(path)), 1)


@cache
def _common_code() -> bytes:
    """SHA-256 of this room and of the units: the code that any metric may reach."""
    room = Path(__file__).parent
    digest = hashlib.sha256()
    for path in (*sorted(room.rglob("*.py")), room.with_name("units.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.digest()


def code_of(folder: Path) -> str:
    """SHA-256 of all code that determines the values of the study in ``folder``."""
    return hashlib.sha256(_common_code() + _own_code(folder)).hexdigest()


def _own_code(folder: Path) -> bytes:
    """SHA-256 of the study's Python files; of nothing if it has no metrics of its own."""
    digest = hashlib.sha256()
    if (folder / STUDY_METRICS_NAME).is_file():
        for path in own_files(folder):
            name = path.relative_to(folder).as_posix()
            digest.update(f"{sha256_of(path)}  {name}\n".encode())
    return digest.digest()


METRICS_SCHEMA = {
    "run_id": pl.String,
    "scenario": pl.String,
    "metric": pl.String,
    "subject": pl.String,
    "value": pl.Float64,
    "unit": pl.String,
    "start_s": pl.Float64,
    "end_s": pl.Float64,
    "definition": pl.String,
}
"""Columns of metrics.parquet; ``value`` is null if it was never reached or is not defined."""


class Value(NamedTuple):
    """A value of a metric, its subject and its window (s)."""

    metric: str
    subject: str
    value: float | None
    start_s: float
    end_s: float


def measure_values(
    parameters: Mapping[str, Scalar],
    tables: Mapping[str, pl.LazyFrame],
    definitions: Mapping[str, Definition] = DEFINITIONS,
    *,
    where: str = "the run",
) -> list[Value]:
    """Values of all metrics of one run, for ``metric_rows``; their definitions say what they need.

    Windows are half-open, ``(start_s, end_s]``: a bin counts if its end is inside. Metrics of the
    same series are adjacent, ordered by flow or link; those whose tables or parameters the run does
    not have are absent, and a value that was never reached or is not defined is None.

    Args:
        parameters: parameters of the run; duration_s (s) is required.
        tables: by name, with the columns that ``trace.read_output`` describes, each in the order of
            time within a flow or link; only the needed ones are read.
        definitions: metrics to measure.
        where: name of the run, for errors.

    Raises:
        BdpbenchError: when a parameter that has to be a positive number is not, or a series ends
            more than a second (or a sampling interval) before duration_s, so that its means would
            cover another window.
    """
    run = RunView(parameters, tables, where)
    run.check_coverage()
    found: list[Value] = []
    metrics = [each for each in definitions.values() if isinstance(each, Metric)]
    for _, block in itertools.groupby(metrics, key=lambda each: (each.subject, each.tables[0])):
        measured = [_measure(each, run) for each in block if tables.keys() >= set(each.tables)]
        of_block = itertools.chain.from_iterable(measured)
        found += sorted(of_block, key=lambda each: _subject_key(each.subject))
    return found


@contextmanager
def _naming_the_line(metric: Definition) -> Iterator[None]:
    """Let an error in a study's metric name its file and line; one in a common metric is ours."""
    try:
        yield
    except BdpbenchError:
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        studies = DECLARED.keys() - {module.__file__ for module in _MODULES}
        line = next((each for each in reversed(frames) if each.filename in studies), None)
        if line is None:
            raise
        said = f"{metric.metric} cannot be computed: {type(error).__name__}: {error}"
        raise BdpbenchError(said, where=f"{line.filename}:{line.lineno}") from error


def _measure(metric: Metric, run: RunView) -> Iterator[Value]:
    for view in _views(metric, run):
        has_all = all(view.has(name) for name in metric.parameters)
        if has_all and (metric.when is None or metric.when(view)):
            with _naming_the_line(metric):
                found = metric.compute(view)
                value = None if found is None else float(found)
            yield Value(metric.metric, view.subject, value, *metric.window(view))


def _views(metric: Metric, run: RunView) -> Sequence[RunView | FlowView | LinkView]:
    """The subjects of a metric: the flows or links that all of its series have."""
    if metric.subject == "run":
        return [run]
    if metric.subject == "link":
        return run.links(metric.tables[0])
    series = [name for name in metric.tables if TABLE_KEYS[name] == "flow"]
    views = run.flows(metric.tables[0])
    return [view for view in views if all(view.index in run.series(name) for name in series)]


def _subject_key(subject: str) -> tuple[int, str]:
    """Sort key: flows by number, links by name."""
    name = subject.partition(":")[2]
    return (int(name), "") if name.isdecimal() else (0, name)


MetricRow: TypeAlias = tuple[object, ...]
"""A row of metrics.parquet."""


def metric_rows(
    values: Iterable[Value], definitions: Mapping[str, Definition], *, run_id: str, scenario: str
) -> list[MetricRow]:
    """Values of one run as rows of metrics.parquet."""
    return [
        (
            run_id,
            scenario,
            *each[:3],
            definitions[each.metric].unit,
            *each[3:],
            definitions[each.metric].id,
        )
        for each in values
    ]


def as_metrics(rows: Sequence[MetricRow]) -> pl.DataFrame:
    """Rows of any number of runs as a frame with the columns ``METRICS_SCHEMA``."""
    return pl.DataFrame(rows, schema=METRICS_SCHEMA, orient="row")


def measure_groups(
    run_metrics: pl.DataFrame,
    runs: Iterable[PlannedRun],
    sweeps: Sweeps | None = None,
    definitions: Mapping[str, Definition] = DEFINITIONS,
) -> pl.DataFrame:
    """Compute metrics of several runs; their definitions say what they mean.

    A value that needs missing runs is left out: a tier that simulates one buffer of five has no
    smallest buffer.

    Args:
        run_metrics: rows of ``metrics.parquet``, of any number of runs.
        runs: all runs of the plan, measured or not.
        sweeps: scenario → parameter → all numbers that the study gives it in any tier. Without it a
            sweep has only the plan's values, so in a tier that leaves out a buffer, the smallest
            sufficient one may come out too large.
        definitions: metrics to measure.

    Returns:
        Rows like those of single runs, with subject "run", for the run that the definition names.
        value is null if no run of a complete sweep attains it, and for differences if one side was
        never reached.

    Raises:
        BdpbenchError: when the swept parameter of a run is not a number.
    """
    group = Group(run_metrics, runs, sweeps or {})
    rows: list[MetricRow] = []
    metrics = [each for each in definitions.values() if isinstance(each, GroupMetric)]
    for _, block in itertools.groupby(metrics, key=lambda each: each.metrics[0]):
        for metric, row, found in _of_block(list(block), group):
            value = Value(metric.metric, "run", found, row.start_s, row.end_s)
            rows += metric_rows([value], definitions, run_id=row.run_id, scenario=row.scenario)
    return as_metrics(rows)


def _of_block(
    metrics: Sequence[GroupMetric], group: Group
) -> Iterator[tuple[GroupMetric, Row, float | None]]:
    """Values of metrics that belong to the same runs, run by run."""
    found = []
    for metric in metrics:
        with _naming_the_line(metric):
            found += [(metric, row, value) for row, value in metric.compute(group)]
    runs = list(dict.fromkeys((row.run_id, row.scenario) for _, row, _ in found))
    order = {run: index for index, run in enumerate(runs)}
    yield from sorted(found, key=lambda each: order[each[1].run_id, each[1].scenario])
