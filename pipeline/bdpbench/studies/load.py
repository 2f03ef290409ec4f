"""Find, read and check a study: first by the models, then as a whole.

Names that refer to others have to exist, and values to be in range.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from bdpbench.contracts.paths import config_dir, expanded, tcl_dir
from bdpbench.contracts.plan import Declared
from bdpbench.contracts.runs import TABLE_KEYS
from bdpbench.contracts.yaml_files import Location, Strict, YamlFile, meant, suggest
from bdpbench.errors import BdpbenchError
from bdpbench.studies.folders import (
    ComponentFolder,
    ProtocolFolder,
    QueueFolder,
    fill_protocols,
    fill_queues,
)
from bdpbench.studies.named import named_folder
from bdpbench.studies.parts import EXPECTED_KIND, Output, OwnSource, Protocol
from bdpbench.studies.queues import QUEUE_KINDS
from bdpbench.studies.study import (
    DURATION_ARGUMENT,
    NETWORK_SCRIPT,
    REPETITIONS_NAME,
    ClassDefaults,
    Scenario,
    Study,
)
from bdpbench.studies.vocabulary import COMMON
from bdpbench.units import MOST_RUNS, unit_of

STUDY_NAME = "study.yaml"


def studies_dir() -> Path:
    """Folder of the configured studies."""
    return config_dir() / "studies"


def study_keys() -> list[str]:
    """Keys of the configured studies, sorted."""
    return sorted(path.parent.name for path in studies_dir().glob(f"*/{STUDY_NAME}"))


def find_study(name_or_path: str | Path) -> Path:
    """Folder of a study, given the key of one in the configuration or a path.

    Raises:
        BdpbenchError: when there is no such study, with a suggestion, or when there are several.
    """
    folder = expanded(Path(name_or_path))
    folder = folder.parent if folder.name == STUDY_NAME else folder
    word = name_or_path if folder.name == Path(name_or_path).name else folder
    # Those beside `studies` are no reproductions, such as config/evaluation.
    found = named_folder(word, (studies_dir(), config_dir()), _is_study)
    if found is not None:
        return _own(found)
    keys = study_keys()
    if folder.is_dir() or os.sep in str(name_or_path):
        raise BdpbenchError(
            f"no {STUDY_NAME} in this folder",
            where=str(folder),
            hint="a study is a folder that contains one",
        )
    key = meant(str(name_or_path), keys)
    if key is not None:
        return studies_dir() / key
    raise BdpbenchError(
        f"unknown study {str(name_or_path)!r}",
        where=str(studies_dir()),
        hint=f"{suggest(str(name_or_path), keys)}; a study of your own is named by its folder, and "
        "`./bdpbench new study NAME` makes one",
    )


def _is_study(folder: Path) -> bool:
    return (folder / STUDY_NAME).is_file()


def _own(folder: Path) -> Path:
    """A study's folder; refused if its results would overwrite those of a configured study."""
    places = (studies_dir(), config_dir())
    if folder.parent in places:
        return folder
    folder = folder.resolve()
    others = [place / folder.name for place in places if _is_study(place / folder.name)]
    if any(other.resolve() != folder for other in others):
        raise BdpbenchError(
            f"{folder.name} is the key of a configured study, whose results these would replace",
            where=str(folder),
            hint="choose another name for the folder and for key: in its study.yaml",
        )
    return folder


def load_study(name_or_path: str | Path) -> Study:
    """Read and check a study, given by its key or its folder.

    Raises:
        BdpbenchError: for an unknown study, or naming file, line and key of what is wrong.
    """
    return read_study(find_study(name_or_path) / STUDY_NAME)


def folders_of(study: Study) -> list[ComponentFolder]:
    """The protocols and queues of a study that are folders, each folder once."""
    protocols = dict.fromkeys(each.folder for each in study.protocols.values() if each.folder)
    queues = dict.fromkeys(each.folder for each in study.queues.values() if each.folder)
    return [
        *(ProtocolFolder(Path(path)) for path in protocols),
        *(QueueFolder(Path(path)) for path in queues),
    ]


def read_study(path: Path) -> Study:
    """Read and check one ``study.yaml``; an unchanged file is read only once."""
    if not path.is_file():
        raise BdpbenchError("no such file", where=str(path))
    files = (path, path.parent / REPETITIONS_NAME)
    found = [each.stat() for each in files if each.is_file()]
    return _read(path, tuple((each.st_mtime_ns, each.st_size, each.st_ino) for each in found))


@lru_cache(maxsize=16)
def _read(path: Path, _states: tuple[tuple[int, int, int], ...]) -> Study:
    source = YamlFile(path)
    fill_protocols(source)
    fill_queues(source)
    study = source.validate(Study).read_from(source)
    if study.key != path.parent.name:
        raise source.error(("key",), f"expected {path.parent.name!r}, the name of the folder")
    check_study(study)
    return study


# ---------------------------------------------------------------- checks

_COMPUTED = {
    DURATION_ARGUMENT: "each tier sets how long its runs are simulated",
    "bdp_pkts": "it is computed from the rate of the bottleneck, rtt_ms and packet_bytes",
}
_FLOW_OF_EVERY_SCRIPT = {"protocol", "count", "start_s", "stagger_s", "access_delay_ms"}


def check_study(study: Study) -> None:
    """Refuse a study that contradicts itself.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong.
    """
    _check_declarations(study)
    _check_references(study, ("defaults",), study.defaults)
    for name, topology in study.topologies.items():
        _check_values(study, ("topologies", name, "parameters"), topology.parameters)
        _check_references(study, ("topologies", name, "bottlenecks"), topology.bottlenecks)
    for name, protocol in study.protocols.items():
        location = ("protocols", name, "linux_parameters")
        if protocol.linux_parameters and protocol.linux is None:
            raise study.error(location, "these belong to a congestion control: name it with linux:")
        _check_references(study, location, protocol.linux_parameters)
    for name, queue in study.queues.items():
        if not queue.folder:
            study.require(("queues", name, "kind"), queue.kind, QUEUE_KINDS, "kind of queue")
    for name, queue in study.queues.items():
        base = ("queues", name, "settings")
        for setting in queue.settings:
            what, known = f"setting of {queue.kind or queue.label}", study.queue_kinds[name]
            study.require((*base, setting), setting, known.parameters, what)
        _check_references(study, base, queue.settings)
    for name, outputs in study.output_sets.items():
        _check_outputs(study, ("output_sets", name), outputs)
    for name, scenario in study.scenarios.items():
        _check_scenario(study, ("scenarios", name), scenario)
    _check_size(study)


def script_path(study: Study, script: str) -> Path | None:
    """Where a script is: under ``tcl/`` of the study's folder or of bdpbench; else None."""
    for folder in (study.folder / "tcl", tcl_dir()):
        if (folder / script).is_file():
            return folder / script
    return None


# ---------------------------------------------------------------- parameters


def _check_declarations(study: Study) -> None:
    for name, declaration in study.parameters.items():
        location = ("parameters", name)
        if name in COMMON or name in _COMPUTED:
            known = f"it is: {COMMON[name].description}" if name in COMMON else _COMPUTED[name]
            message = "all studies have this parameter: it needs no declaration"
            raise study.error(location, message, hint=known)
        if declaration.unit and unit_of(name) not in ("", declaration.unit):
            said = f"the name says {unit_of(name)!r}, but the unit is {declaration.unit!r}"
            raise study.error((*location, "unit"), said)
        for protocol in declaration.sets:
            study.require((*location, "sets", protocol), protocol, study.protocols, "protocol")


def _check_values(study: Study, base: Location, given: Mapping[str, Any]) -> None:
    """Refuse unknown parameters, and values that they cannot have, of which a sweep has several."""
    for name, value in given.items():
        location, several = (*base, name), isinstance(value, list)
        _check_name(study, location, name)
        declaration, values = study.vocabulary[name], value if several else [value]
        if not values:
            raise study.error(location, "the sweep expands to no run: expected at least one value")
        for index, each in enumerate(values):
            place: Location = (*location, index) if several else location
            if problem := declaration.problem(each):
                raise study.error(place, f"{problem} (got {each!r})")
            if declaration.type == "protocol":
                study.require(place, each, study.protocols, "protocol")
            if declaration.type == "queue":
                study.require(place, each, [*study.queues, *QUEUE_KINDS], "queue")
        if len(set(values)) < len(values):
            raise study.error(location, "a value occurs twice")


def _check_name(study: Study, location: Location, name: str) -> None:
    if name in _COMPUTED:
        raise study.error(location, "is not given here", hint=_COMPUTED[name])
    also = "; a parameter of your own is declared under parameters:"
    study.require(location, name, study.vocabulary, "parameter", also=also)


def _check_references(study: Study, location: Location, part: object) -> None:
    """Find the references to parameters in a part of the study."""
    if isinstance(part, Strict):
        part = {name: getattr(part, name) for name in type(part).model_fields}
    if isinstance(part, (dict, list)):
        for name, each in part.items() if isinstance(part, dict) else enumerate(part):
            _check_references(study, (*location, name), each)
    elif isinstance(part, str) and part.startswith("$"):
        known = [*study.vocabulary, DURATION_ARGUMENT]
        study.require(location, part[1:], known, "parameter")


# ---------------------------------------------------------------- outputs


def _check_outputs(study: Study, base: Location, outputs: Sequence[Output]) -> None:
    files: set[str] = set()
    columns: set[tuple[str, int | str | None]] = set()
    for index, output in enumerate(outputs):
        location = (*base, index)
        wanted = TABLE_KEYS[output.table]
        for key in ("flow", "link"):
            given = getattr(output, key) is not None
            if key == wanted and not given:
                raise study.error(location, f"{key} is missing: whose {output.table} it is")
            if key != wanted and given:
                raise study.error((*location, key), f"table {output.table} has no {key}")
        column = (output.table, output.link if output.flow is None else output.flow)
        if output.file in files:
            raise study.error((*location, "file"), f"{output.file} occurs twice in this set")
        if column in columns:
            of = "" if column[1] is None else f" of {wanted} {column[1]}"
            raise study.error(location, f"a second file for table {output.table}{of}")
        files.add(output.file)
        columns.add(column)


# ---------------------------------------------------------------- scenarios


def _check_scenario(study: Study, base: Location, scenario: Scenario) -> None:
    study.require((*base, "topology"), scenario.topology, study.topologies, "topology")
    if scenario.outputs is not None:
        study.require((*base, "outputs"), scenario.outputs, study.output_sets, "output set")
    _check_values(study, (*base, "parameters"), scenario.parameters)
    _check_references(study, (*base, "defaults"), scenario.defaults)
    _check_values(study, (*base, "sweep"), scenario.sweep)
    for index, case in enumerate(scenario.cases):
        _check_values(study, (*base, "cases", index), case)
    for part in ("flows", "background", "changes"):
        _check_references(study, (*base, part), getattr(scenario, part))
    for index, flow in enumerate(scenario.flows):
        if flow.protocol is not None and not flow.protocol.startswith("$"):
            location = (*base, "flows", index, "protocol")
            study.require(location, flow.protocol, study.protocols, "protocol")
    _check_script(study, base, scenario)
    _check_tiers(study, base, scenario)


def _check_script(study: Study, base: Location, scenario: Scenario) -> None:
    """Refuse a script that is not there, and keys that have no effect on it."""
    script, network = scenario.script, scenario.network
    for key, name in (("script", script), ("network", network)):
        if name is not None and script_path(study, name) is None:
            places = f"{study.folder / 'tcl'} or {tcl_dir()}"
            hint = suggest(name, _scripts_of(study))
            raise study.error((*base, key), f"no such script under {places}", hint=hint)
    is_network = script == NETWORK_SCRIPT
    nothing = f"{NETWORK_SCRIPT} needs 'flows' or 'background': nothing would be sent"
    without = "'outputs' is missing: the set of files that the script writes"
    own_list = f"{NETWORK_SCRIPT} has its own list: remove it"
    alone = f"only {NETWORK_SCRIPT} takes it, and this scenario has its own script"
    more = f"{NETWORK_SCRIPT} does not take them: name the script that does with network:"
    chain: Location = ("topologies", scenario.topology, "bottlenecks")
    rules: list[tuple[object, Location, str]] = [
        (is_network and not scenario.flows and not scenario.background, base, nothing),
        (is_network and not network and scenario.arguments, (*base, "arguments"), own_list),
        (is_network and scenario.outputs, (*base, "outputs"), own_list),
        (not is_network and scenario.outputs is None, base, without),
        (not is_network and network, (*base, "network"), alone),
        (not is_network and scenario.background, (*base, "background"), alone),
        (not is_network and scenario.changes, (*base, "changes"), alone),
        (not is_network and study.topologies[scenario.topology].bottlenecks, chain, alone),
    ]
    for index, flow in enumerate(scenario.flows):
        own = sorted(flow.model_fields_set - _FLOW_OF_EVERY_SCRIPT)
        rules += [(not is_network, (*base, "flows", index, key), alone) for key in own]
        rules.append((flow.arguments and not network, (*base, "flows", index, "arguments"), more))
    for index, source in enumerate(scenario.background):
        location = (*base, "background", index, "kind")
        rules.append((isinstance(source, OwnSource) and not network, location, EXPECTED_KIND))
    for index, link in enumerate(study.topologies[scenario.topology].bottlenecks):
        rules.append((link.arguments and not network, (*chain, index, "arguments"), more))
    for index, name in enumerate(scenario.arguments):
        location = (*base, "arguments", index)
        again = name in scenario.arguments[:index]
        rules.append((name == DURATION_ARGUMENT, location, f"every script gets {name}: remove it"))
        rules.append((again, location, f"{name} occurs twice"))
    for is_wrong, location, message in rules:
        if is_wrong:
            raise study.error(location, message)
    for index, name in enumerate(scenario.arguments):
        _check_name(study, (*base, "arguments", index), name)


def _scripts_of(study: Study) -> Iterator[str]:
    for folder in (study.folder / "tcl", tcl_dir()):
        for path in folder.rglob("*.tcl"):
            if path.parent != folder / "lib":
                yield str(path.relative_to(folder))


def _check_tiers(study: Study, base: Location, scenario: Scenario) -> None:
    swept = set(scenario.sweep) | {name for case in scenario.cases for name in case}
    for tier, entries in scenario.tiers.items():
        for index, entry in enumerate(entries):
            for parameter, values in entry.only.items():
                location = (*base, "tiers", tier, index, "only", parameter)
                study.require(location, parameter, swept, "swept parameter")
                known = [*scenario.sweep.get(parameter, [])]
                known += [case[parameter] for case in scenario.cases if parameter in case]
                if not values or any(each not in known for each in values):
                    raise study.error(
                        location,
                        f"no run has one of {list(values)!r}",
                        hint=f"swept values: {list(dict.fromkeys(known))}",
                    )


def _check_size(study: Study) -> None:
    """Refuse a tier with more runs than can be planned, before planning any."""
    totals: Counter[str] = Counter()
    for name, scenario in study.scenarios.items():
        for tier, entries in scenario.tiers.items():
            totals[tier] += sum(
                math.prod(map(len, scenario.swept_values(entry))) * max(1, len(scenario.cases))
                for entry in entries
            )
            if totals[tier] > MOST_RUNS:
                raise study.error(
                    ("scenarios", name, "sweep" if scenario.sweep else "cases"),
                    f"tier {tier} would have {totals[tier]:,} runs or more, and at most "
                    f"{MOST_RUNS:,} can be planned",
                    hint="sweep fewer values, keep some with only:, or split the study",
                )


# ---------------------------------------------------------------- names of ns-2


def declared_by(study: Study) -> Iterator[Declared]:
    """Everything of ns-2 that a study names, in the order of its file."""
    yield from _of_defaults(("defaults",), study.defaults)
    for key, protocol in study.protocols.items():
        yield from _of_protocol(("protocols", key), protocol)
    for key, parameter in study.parameters.items():
        for setting, names in parameter.sets.items():
            for index, name in enumerate(names):
                location = ("parameters", key, "sets", setting, index)
                yield Declared("variable", study.protocols[setting].agent, name, location)
    for key, queue in study.queues.items():
        kind, place = study.queue_kinds[key], ("queues", key, "folder" if queue.folder else "kind")
        for each in kind.parameters.values():
            yield Declared("default", f"Queue/{kind.ns2_class}", each.variable, place)
    for key, scenario in study.scenarios.items():
        yield from _of_defaults(("scenarios", key, "defaults"), scenario.defaults)


def _of_defaults(base: Location, defaults: ClassDefaults) -> Iterator[Declared]:
    for ns2_class, variables in defaults.items():
        for name in variables:
            yield Declared("default", ns2_class, name, (*base, ns2_class, name))


def _of_protocol(base: Location, protocol: Protocol) -> Iterator[Declared]:
    yield Declared("agent", protocol.agent, "", (*base, "agent"))
    yield Declared("sink", protocol.sink, "", (*base, "sink"))
    if protocol.linux is not None:
        yield Declared("linux", protocol.agent, protocol.linux, (*base, "linux"))
        for name in protocol.linux_parameters:
            place = (*base, "linux_parameters", name)
            yield Declared("parameter", protocol.linux, name, place)
    for name in protocol.settings:
        yield Declared("variable", protocol.agent, name, (*base, "settings", name))
    for index, name in enumerate(protocol.record):
        yield Declared("variable", protocol.agent, name, (*base, "record", index))
