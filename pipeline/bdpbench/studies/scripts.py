"""Scripts of a study's authors that replace bdpbench's own.

An example are the appendices of a thesis, as `bdpbench recover` writes them: scripts for ns-2.27,
run by ``tcl/original.tcl`` in a folder with ``utils.tcl``. ``original:`` of a scenario declares
their arguments and the parameters that they fix. They set their agents themselves, so the settings
of ``study.yaml`` do not reach ns-2.
"""

from __future__ import annotations

import re
from pathlib import Path

from bdpbench.contracts.paths import tcl_dir
from bdpbench.contracts.plan import Parameters, Scalar
from bdpbench.contracts.runs import OUTPUT_FOLDER
from bdpbench.contracts.yaml_files import Location
from bdpbench.studies.flows import format_value
from bdpbench.studies.identity import tcl_files
from bdpbench.studies.study import DATADIR_ARGUMENT, DURATION_ARGUMENT, Original, Scenario, Study

UTILS_NAME = "utils.tcl"
ORIGINAL_RUNNER = "original.tcl"
OWN_SETTINGS = "an original script sets its agents itself; settings in study.yaml do not reach it"

_ARGUMENT = re.compile(r"\[lindex \$argv (\d+)\]")


def outside_files(folder: Path, script: str) -> dict[str, Path]:
    """File name → path, for files that an outside script needs in its working directory."""
    name = Path(script).name
    return {name: folder / name, UTILS_NAME: tcl_dir() / "lib" / UTILS_NAME}


def original_files(folder: Path, script: str) -> list[Path]:
    """All Tcl files that a run of an outside script reads."""
    return [*tcl_files(tcl_dir() / ORIGINAL_RUNNER), *outside_files(folder, script).values()]


def unfit(folder: Path, scenario: Scenario) -> str | None:
    """Why no script of ``folder`` can replace that of a scenario; None if one can."""
    original = scenario.original
    if original is None:
        return "the scenario has no original: that says how a script could replace its own"
    if not folder.is_dir():
        return f"no such folder: {folder}"
    path = folder / original.script
    if not path.is_file():
        return f"no script {path}"
    text = path.read_text(encoding="utf-8", errors="replace")
    taken = 1 + max((int(index) for index in _ARGUMENT.findall(text)), default=-1)
    for argument in original.arguments[taken:]:
        return f"{path} takes no argument {argument}"
    return None


def original_arguments(study: Study, key: str, parameters: Parameters) -> list[str]:
    """Arguments of the original script for a run, in its own order.

    Raises:
        BdpbenchError: naming file and line, when the script cannot simulate the run.
    """
    original = study.scenarios[key].original
    assert original is not None  # noqa: S101 - load_study refuses scripts: without original:
    base: Location = ("scenarios", key, "original")
    _check_fixed(study, base, original, parameters)
    _check_taken(study, base, original, parameters)
    return [
        _argument(study, (*base, "arguments", index), argument, parameters)
        for index, argument in enumerate(original.arguments)
    ]


def _argument(study: Study, location: Location, argument: Scalar, parameters: Parameters) -> str:
    if argument == DATADIR_ARGUMENT:
        return OUTPUT_FOLDER
    if isinstance(argument, str) and argument in parameters:
        return format_value(parameters[argument])
    if argument in study.vocabulary:
        raise study.error(location, f"{argument} has no value in a run of this scenario")
    return format_value(argument)


def _check_fixed(study: Study, base: Location, original: Original, parameters: Parameters) -> None:
    for name, value in original.fixed.items():
        if parameters.get(name) != value:
            given = format_value(parameters[name]) if name in parameters else "not given"
            raise study.error(
                (*base, "fixed", name),
                f"{original.script} has {name} {format_value(value)}, but here it is {given}",
                hint="leave out --scripts for these runs, or scripts: of the scenario",
            )


def _check_taken(study: Study, base: Location, original: Original, parameters: Parameters) -> None:
    """Check that each parameter is an argument of the script or declared as fixed by it."""
    told = {*original.arguments, *original.fixed, *original.implied}
    for name in parameters:
        nominal = name != DURATION_ARGUMENT and study.vocabulary[name].nominal
        if not nominal and name not in told:
            raise study.error(
                base,
                f"{name} would have no effect: {original.script} does not take it",
                hint=f"if the script has the value of the study, declare it: fixed: {{{name}: "
                f"{format_value(parameters[name])}}}",
            )
