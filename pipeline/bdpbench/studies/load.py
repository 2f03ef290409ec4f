"""Reading ``study.yaml``: the models first, then what only the file as a whole can tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bdpbench.contracts.paths import config_dir, study_dir, tcl_dir
from bdpbench.contracts.yaml_files import YamlFile, suggest
from bdpbench.errors import BdpbenchError
from bdpbench.studies.scripts import unfit
from bdpbench.studies.study import (
    DATADIR_ARGUMENT,
    DUMBBELL_SCRIPT,
    Parameters,
    Scenario,
    Study,
    known_or_suggest,
)

_RECOVER_HINT = "`./bdpbench recover THESIS -o DIR` writes a folder with all scripts"
PARAMETER_NAMES = tuple(Parameters.model_fields)


def study_keys() -> list[str]:
    """Keys of the studies that the configuration holds, sorted."""
    return sorted(path.parent.name for path in (config_dir() / "studies").glob("*/study.yaml"))


def load_study(key: str, scripts: Path | None = None) -> Study:
    """Read and check the study ``key``.

    Args:
        key: name of its folder.
        scripts: folder of scripts that take the place of those of every scenario that they fit.

    Raises:
        BdpbenchError: for an unknown study, or naming file, line and key of what is wrong.
    """
    unknown = known_or_suggest(key, study_keys(), "study")
    if unknown:
        raise BdpbenchError(unknown[0], where=str(config_dir() / "studies"), hint=unknown[1])
    study = read_study(study_dir(key) / "study.yaml")
    return study if scripts is None else _with_scripts_of(study, scripts.resolve())


def read_study(path: Path) -> Study:
    """Read and check one ``study.yaml``."""
    source = YamlFile(path)
    study = source.validate(Study)
    if study.key != path.parent.name:
        raise source.error(("key",), f"expected {path.parent.name!r}, the name of the folder")
    for name, scenario in study.scenarios.items():
        _check_references(source, study, name, scenario)
        _check_sweep(source, study, name, scenario)
        _check_script(source, name, scenario)
        _check_tiers(source, name, scenario)
    return _with_own_scripts(source, study)


def _with_own_scripts(source: YamlFile, study: Study) -> Study:
    """The study with the ``scripts`` of its scenarios as absolute paths, checked."""
    folders = {}
    for name, scenario in study.scenarios.items():
        if scenario.scripts is not None:
            folder = (source.path.parent / Path(scenario.scripts).expanduser()).resolve()
            reason = unfit(folder, scenario)
            if reason:
                raise source.error(("scenarios", name, "scripts"), reason, hint=_RECOVER_HINT)
            folders[name] = folder
    return _with_scripts(study, folders)


def _with_scripts_of(study: Study, folder: Path) -> Study:
    """The study with the scripts of one folder in all scenarios that they can run."""
    reasons = {name: unfit(folder, scenario) for name, scenario in study.scenarios.items()}
    fit = {name: folder for name, reason in reasons.items() if reason is None}
    if not fit:
        reason = next(iter(reasons.values()))
        raise BdpbenchError(f"{reason}", where="--scripts", hint=_RECOVER_HINT)
    return _with_scripts(study, fit)


def _with_scripts(study: Study, folders: dict[str, Path]) -> Study:
    scenarios = {
        name: scenario.model_copy(update={"scripts": str(folders[name])})
        if name in folders
        else scenario
        for name, scenario in study.scenarios.items()
    }
    return study.model_copy(update={"scenarios": scenarios})


def _check_references(source: YamlFile, study: Study, name: str, scenario: Scenario) -> None:
    base = ("scenarios", name)
    unknown = known_or_suggest(scenario.topology, study.topologies, "topology")
    if unknown:
        raise source.error((*base, "topology"), unknown[0], hint=unknown[1])
    if scenario.outputs is not None:
        unknown = known_or_suggest(scenario.outputs, study.output_sets, "output set")
        if unknown:
            raise source.error((*base, "outputs"), unknown[0], hint=unknown[1])
    for index, flow in enumerate(scenario.flows):
        if flow.protocol is not None:
            location = (*base, "flows", index, "protocol")
            _check_protocol(source, study, location, flow.protocol)
    _check_protocols_of(source, study, (*base, "parameters"), scenario.parameters)
    for index, case in enumerate(scenario.cases):
        _check_protocols_of(source, study, (*base, "cases", index), case)


def _check_protocols_of(
    source: YamlFile, study: Study, location: tuple[str | int, ...], parameters: Parameters
) -> None:
    for field in ("protocol", "protocol_1", "protocol_2"):
        value = getattr(parameters, field)
        if value is not None:
            _check_protocol(source, study, (*location, field), value)


def _check_protocol(
    source: YamlFile, study: Study, location: tuple[str | int, ...], value: Any
) -> None:
    unknown = known_or_suggest(value, study.protocols, "protocol")
    if unknown:
        raise source.error(location, unknown[0], hint=unknown[1])


def _check_sweep(source: YamlFile, study: Study, name: str, scenario: Scenario) -> None:
    for parameter, values in scenario.sweep.items():
        location = ("scenarios", name, "sweep", parameter)
        unknown = known_or_suggest(parameter, PARAMETER_NAMES, "parameter")
        if unknown:
            raise source.error(location, unknown[0], hint=unknown[1])
        if not values:
            raise source.error(location, "the sweep expands to no run: expected at least one value")
        for index, value in enumerate(values):
            check_value(source, (*location, index), parameter, value)
            if parameter in ("protocol", "protocol_1", "protocol_2"):
                _check_protocol(source, study, (*location, index), value)


def check_value(
    source: YamlFile, location: tuple[str | int, ...], parameter: str, value: Any
) -> None:
    """Check one value of a parameter against the type and range that ``Parameters`` gives it."""
    try:
        Parameters.model_validate({parameter: value})
    except ValidationError as failure:
        message = failure.errors()[0]["msg"]
        raise source.error(location, f"{parameter}: {message} (got {value!r})") from None


def _check_script(source: YamlFile, name: str, scenario: Scenario) -> None:
    base = ("scenarios", name)
    if not (tcl_dir() / scenario.script).is_file():
        scripts = [str(path.relative_to(tcl_dir())) for path in tcl_dir().glob("*/*.tcl")]
        hint = suggest(scenario.script, [*scripts, DUMBBELL_SCRIPT])
        raise source.error((*base, "script"), f"no such script under {tcl_dir()}", hint=hint)
    if scenario.script == DUMBBELL_SCRIPT:
        _check_dumbbell(source, base, scenario)
    else:
        _check_fixed_script(source, base, scenario)


def _check_dumbbell(source: YamlFile, base: tuple[str, ...], scenario: Scenario) -> None:
    if not scenario.flows:
        raise source.error(base, "dumbbell.tcl needs 'flows': a list with at least one flow")
    for key in ("arguments", "outputs"):
        if getattr(scenario, key):
            raise source.error((*base, key), "dumbbell.tcl takes its parameters by name: remove it")


def _check_fixed_script(source: YamlFile, base: tuple[str, ...], scenario: Scenario) -> None:
    """A script with positional arguments can vary only what it takes as an argument."""
    if scenario.flows:
        raise source.error((*base, "flows"), f"only {DUMBBELL_SCRIPT} takes flows from here")
    if scenario.outputs is None:
        raise source.error(base, "'outputs' is missing: the set of files that the script writes")
    for index, argument in enumerate(scenario.arguments):
        unknown = known_or_suggest(argument, (*PARAMETER_NAMES, DATADIR_ARGUMENT), "parameter")
        if unknown:
            raise source.error((*base, "arguments", index), unknown[0], hint=unknown[1])
    for parameter in scenario.sweep:
        if parameter not in scenario.arguments:
            raise source.error(
                (*base, "sweep", parameter),
                f"{scenario.script} does not take {parameter} as an argument, so a sweep of it "
                "would change nothing",
                hint=f"sweep one of {', '.join(scenario.arguments)}, or use {DUMBBELL_SCRIPT}",
            )


def _check_tiers(source: YamlFile, name: str, scenario: Scenario) -> None:
    swept = set(scenario.sweep) | {
        field for case in scenario.cases for field in case.model_fields_set
    }
    for tier, entries in scenario.tiers.items():
        for index, entry in enumerate(entries):
            for parameter, values in entry.only.items():
                location = ("scenarios", name, "tiers", tier, index, "only", parameter)
                unknown = known_or_suggest(parameter, swept, "swept parameter")
                if unknown:
                    raise source.error(location, unknown[0], hint=unknown[1])
                missing = [each for each in values if each not in _swept(scenario, parameter)]
                if missing or not values:
                    raise source.error(
                        location,
                        f"no run has one of {list(values)!r}",
                        hint=f"swept values: {_swept(scenario, parameter)}",
                    )


def _swept(scenario: Scenario, parameter: str) -> list[Any]:
    if parameter in scenario.sweep:
        return list(scenario.sweep[parameter])
    return [getattr(case, parameter) for case in scenario.cases]
