"""Scenarios → runs: expanded sweeps, script arguments, and ids that stand for the bytes.

A run's id is a hash of everything that decides what ns-2 writes: the parameters, the script and
its library, the arguments, and the ns-2 build. The same id always means the same bytes, an edited
scenario changes only the ids that it touches, and two studies share equal runs.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.paths import tcl_dir
from bdpbench.contracts.yaml_files import suggest
from bdpbench.errors import BdpbenchError
from bdpbench.studies.cost import estimate_cpu_s
from bdpbench.studies.dumbbell import dumbbell_arguments, dumbbell_outputs, expand_flows
from bdpbench.studies.scripts import outside_checksum
from bdpbench.studies.streams import is_streamed, streamed_outputs
from bdpbench.studies.study import DATADIR_ARGUMENT, DUMBBELL_SCRIPT, Parameters, Scenario, Study
from bdpbench.units import bdp_packets

OUTPUT_FOLDER = "out"
RUN_ID_DIGITS = 16
_PROTOCOL_FIELDS = ("protocol", "protocol_1", "protocol_2")

RunParameters = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """One resolved set of parameters.

    Attributes:
        run_id: 16 hex digits, see the module.
        study, scenario: keys of where it comes from; not part of the id.
        label: what a reader calls it, e.g. ``HS-TCP, buffer 40 packets``.
        script: path under ``tcl/``; script_sha256 covers it and ``tcl/lib``.
        argv: arguments of the script; the output folder is ``out``.
        parameters: name → value; units are in the names (``rtt_ms``).
        outputs: files that the script writes: ``file``, ``table``, ``flow`` or ``link``.
        protocols: keys of the protocols of its flows, each once.
        estimated_cpu_s: predicted CPU time of ns-2, s.
        scripts: folder of the script that takes the place of ``tcl/<script>``; not part of the id,
            which covers that script instead.
    """

    run_id: str
    study: str
    scenario: str
    label: str
    script: str
    script_sha256: str
    argv: tuple[str, ...]
    parameters: RunParameters
    outputs: tuple[Mapping[str, Any], ...]
    protocols: tuple[str, ...]
    estimated_cpu_s: float
    scripts: str | None = None


@dataclass(frozen=True)
class Selection:
    """Which runs of a tier are wanted; an empty tuple wants all."""

    scenarios: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()

    def check(self, study: Study) -> None:
        """Refuse names that the study does not have.

        Raises:
            BdpbenchError: naming the option, with a suggestion.
        """
        for option, names, known in (
            ("--scenario", self.scenarios, study.scenarios),
            ("--protocol", self.protocols, study.protocols),
        ):
            for name in names:
                if name not in known:
                    raise BdpbenchError(
                        f"study {study.key} has no {option[2:]} {name!r}",
                        where=option,
                        hint=suggest(name, known),
                    )

    def wants(self, run: Run) -> bool:
        """Whether the run is selected."""
        scenario_wanted = not self.scenarios or run.scenario in self.scenarios
        protocol_wanted = not self.protocols or bool(set(self.protocols) & set(run.protocols))
        return scenario_wanted and protocol_wanted


@dataclass
class _Draft:
    """A run in the making: parameters without the derived ones."""

    scenario_key: str
    scenario: Scenario
    parameters: RunParameters
    swept: list[str] = field(default_factory=list)


def expand_tier(study: Study, tier: str, ns2_build_id: str) -> list[Run]:
    """All runs of a tier, in the order of ``study.yaml``; equal runs of a scenario appear once.

    Raises:
        BdpbenchError: when the tier holds no run, or a script's argument has no value.
    """
    runs: dict[tuple[str, str], Run] = {}
    for key, scenario in study.scenarios.items():
        for draft in _drafts(study, key, scenario, tier):
            run = _finish(study, draft, ns2_build_id)
            runs.setdefault((key, run.run_id), run)
    if not runs:
        raise BdpbenchError(
            f"study {study.key} has no runs in tier {tier!r}",
            hint="its tiers: " + ", ".join(tiers_of(study)),
        )
    return list(runs.values())


def tiers_of(study: Study) -> list[str]:
    """Tiers in which a study has runs, sorted."""
    return sorted({tier for scenario in study.scenarios.values() for tier in scenario.tiers})


def _drafts(study: Study, key: str, scenario: Scenario, tier: str) -> Iterator[_Draft]:
    topology = study.topologies[scenario.topology].parameters
    base = {**_given(topology), **_given(scenario.parameters)}
    cases = [_given(case) for case in scenario.cases] or [{}]
    swept = list(dict.fromkeys([*scenario.sweep, *(name for case in cases for name in case)]))
    for entry in scenario.tiers.get(tier, []):  # type: ignore[call-overload]
        for values in itertools.product(*scenario.sweep.values()):
            grid = dict(zip(scenario.sweep, values, strict=True))
            for case in cases:
                parameters = {**base, **grid, **case, "duration_s": entry.duration_s}
                if all(parameters.get(name) in kept for name, kept in entry.only.items()):
                    yield _Draft(key, scenario, parameters, swept)


def _given(parameters: Parameters) -> RunParameters:
    return parameters.model_dump(exclude_none=True)


def _finish(study: Study, draft: _Draft, ns2_build_id: str) -> Run:
    parameters = _with_derived(draft)
    scenario = draft.scenario
    if scenario.script == DUMBBELL_SCRIPT:
        flows = expand_flows(study, draft.scenario_key, scenario, parameters)
        argv = dumbbell_arguments(flows, parameters)
        outputs = dumbbell_outputs(len(flows), parameters)
        protocols = tuple(dict.fromkeys(flow.key for flow in flows))
        parameters = _with_flows(parameters, [flow.key for flow in flows])
    else:
        argv = tuple(_argument(draft, name, parameters) for name in scenario.arguments)
        outputs = [
            each.model_dump(exclude_none=True) for each in study.output_sets[str(scenario.outputs)]
        ]
        protocols = tuple(parameters[each] for each in _PROTOCOL_FIELDS if each in parameters)
    if is_streamed(parameters):
        outputs = streamed_outputs(outputs, f"scenario {draft.scenario_key}")
    script_sha256 = _script_sha256(scenario)
    return Run(
        run_id=_run_id(parameters, argv, outputs, script_sha256, ns2_build_id),
        study=study.key,
        scenario=draft.scenario_key,
        label=_label(study, draft, parameters),
        script=scenario.script,
        script_sha256=script_sha256,
        argv=tuple(argv),
        parameters=parameters,
        outputs=tuple(outputs),
        protocols=protocols,
        estimated_cpu_s=round(estimate_cpu_s(parameters), 1),
        scripts=scenario.scripts,
    )


def _script_sha256(scenario: Scenario) -> str:
    if scenario.scripts is None:
        return script_checksum(scenario.script)
    return outside_checksum(Path(scenario.scripts), scenario.script)


def _with_derived(draft: _Draft) -> RunParameters:
    """Parameters with the nominal RTT and BDP where the scenario leaves them to be computed."""
    parameters = dict(draft.parameters)
    delays = ("access_delay_ms", "bottleneck_delay_ms", "receiver_delay_ms")
    if "rtt_ms" not in parameters and all(each in parameters for each in delays):
        parameters["rtt_ms"] = 2 * sum(parameters[each] for each in delays)
    needed = ("bottleneck_mbps", "rtt_ms", "packet_bytes")
    if all(each in parameters for each in needed):
        parameters["bdp_pkts"] = round(bdp_packets(*(parameters[each] for each in needed)), 3)
    return dict(sorted(parameters.items()))


def _with_flows(parameters: RunParameters, keys: Sequence[str]) -> RunParameters:
    """Parameters that name the flows of a dumbbell as the scripts of studies do."""
    named = {**parameters, "flows": len(keys)}
    if len(set(keys)) == 1:
        named["protocol"] = keys[0]
    elif len(keys) == 2:
        named["protocol_1"], named["protocol_2"] = keys
    return dict(sorted(named.items()))


def _argument(draft: _Draft, name: str, parameters: RunParameters) -> str:
    if name == DATADIR_ARGUMENT:
        return OUTPUT_FOLDER
    if name not in parameters:
        raise BdpbenchError(
            f"scenario {draft.scenario_key}: argument {name} of {draft.scenario.script} has no "
            "value: set it under parameters, sweep or cases"
        )
    return format_value(parameters[name])


def format_value(value: Any) -> str:
    """A parameter as ns-2 gets it: integers without a point, floats as Python prints them.

    >>> format_value(30.0), format_value(0.01), format_value("HS")
    ('30', '0.01', 'HS')
    """
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


@cache
def script_checksum(script: str) -> str:
    """SHA-256 over a script and all of ``tcl/lib``, names and contents, in sorted order."""
    root = tcl_dir()
    return _checksum_of(root, tuple([root / script, *sorted((root / "lib").glob("*.tcl"))]))


def _checksum_of(root: Path, files: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.relative_to(root)}\0{sha256_of(path)}\n".encode())
    return digest.hexdigest()


def _run_id(
    parameters: RunParameters,
    argv: Sequence[str],
    outputs: Sequence[Mapping[str, Any]],
    script_sha256: str,
    ns2_build_id: str,
) -> str:
    identity = {
        "parameters": {name: format_value(value) for name, value in parameters.items()},
        "argv": list(argv),
        "outputs": list(outputs),
        "script_sha256": script_sha256,
        "ns2_build_id": ns2_build_id,
    }
    canonical = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:RUN_ID_DIGITS]


_LABELS = {
    "rtt_ms": "RTT {} ms",
    "buffer_pkts": "buffer {} packets",
    "bottleneck_mbps": "{} Mbit/s",
    "bottleneck_delay_ms": "bottleneck delay {} ms",
    "flow2_start_s": "second flow at {} s",
    "fast_alpha_pkts": "alpha {} packets",
    "error_pct": "bad state {} %",
    "run": "repetition {}",
    "queue": "{}",
}


def _label(study: Study, draft: _Draft, parameters: RunParameters) -> str:
    protocols = [
        study.protocols[parameters[each]].label for each in _PROTOCOL_FIELDS if each in parameters
    ]
    parts = [" and ".join(protocols)] if protocols else [draft.scenario.title]
    if "rtt_1_ms" in parameters and "rtt_2_ms" in parameters:
        parts.append(f"RTT {_number(parameters, 'rtt_1_ms')}:{_number(parameters, 'rtt_2_ms')} ms")
    shown = [name for name in draft.swept if name in _LABELS]
    if "rtt_ms" in shown and "buffer_pkts" in shown:  # the buffer follows the BDP
        shown.remove("buffer_pkts")
    if "rtt_ms" in shown and "bottleneck_delay_ms" in shown:
        shown.remove("bottleneck_delay_ms")
    parts += [_LABELS[name].format(_number(parameters, name)) for name in shown]
    return ", ".join([*parts, f"{_number(parameters, 'duration_s')} s"])


def _number(parameters: RunParameters, name: str) -> str:
    return format_value(parameters[name])
