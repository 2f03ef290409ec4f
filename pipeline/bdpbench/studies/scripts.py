"""Runs of scripts of a study's authors, which replace bdpbench's own.

An example are the appendices of a thesis, as `bdpbench recover` writes them: scripts for ns-2.27,
run by ``tcl/original.tcl`` in a folder with ``utils.tcl``. ``original:`` of a scenario declares
their arguments and the parameters that they fix. They set their agents themselves, so the settings
of ``study.yaml`` do not reach ns-2.
"""

from __future__ import annotations

from bdpbench.contracts.plan import Scalar, format_value
from bdpbench.contracts.runs import OUTPUT_FOLDER
from bdpbench.contracts.yaml_files import Location
from bdpbench.studies.study import DATADIR_ARGUMENT, DURATION_ARGUMENT, Original
from bdpbench.studies.values import Values


def original_arguments(values: Values, original: Original) -> list[str]:
    """Arguments of the original script for a run, in its own order.

    Raises:
        BdpbenchError: naming file and line, when the script cannot simulate the run.
    """
    base = (*values.base, "original")
    _check_fixed(values, base, original)
    _check_taken(values, base, original)
    return [
        _argument(values, (*base, "arguments", index), argument)
        for index, argument in enumerate(original.arguments)
    ]


def _argument(values: Values, location: Location, argument: Scalar) -> str:
    if argument == DATADIR_ARGUMENT:
        return OUTPUT_FOLDER
    if isinstance(argument, str) and argument in values.parameters:
        return format_value(values.parameters[argument])
    if argument in values.study.vocabulary:
        raise values.error(location, f"{argument} has no value in a run of this scenario")
    return format_value(argument)


def _check_fixed(values: Values, base: Location, original: Original) -> None:
    parameters = values.parameters
    for name, value in original.fixed.items():
        if parameters.get(name) != value:
            given = format_value(parameters[name]) if name in parameters else "not given"
            raise values.error(
                (*base, "fixed", name),
                f"{original.script} has {name} {format_value(value)}, but here it is {given}",
                hint="leave out --scripts for these runs, or scripts: of the scenario",
            )


def _check_taken(values: Values, base: Location, original: Original) -> None:
    """Check that each parameter is an argument of the script or declared as fixed by it."""
    declared = {*original.arguments, *original.fixed, *original.implied}
    for name, value in values.parameters.items():
        nominal = name != DURATION_ARGUMENT and values.study.vocabulary[name].nominal
        if not nominal and name not in declared:
            raise values.error(
                base,
                f"{name} would have no effect: {original.script} does not take it",
                hint=f"if the script has the value of the study, declare it: fixed: {{{name}: "
                f"{format_value(value)}}}",
            )
