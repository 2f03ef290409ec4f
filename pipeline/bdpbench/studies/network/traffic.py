"""Background traffic and changes over time of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bdpbench.contracts.plan import Scalar
from bdpbench.contracts.yaml_files import Location
from bdpbench.studies.limits import MOST_SOURCES
from bdpbench.studies.network.links import Link, Wire, check_burst
from bdpbench.studies.network.packmime import packmime_source
from bdpbench.studies.network.senders import ClassVariables, route_of
from bdpbench.studies.network.source import Pairs, Source
from bdpbench.studies.network.values import Values
from bdpbench.studies.network.web import web_source
from bdpbench.studies.parts import COMMON_OF_BACKGROUND, KEYS_OF_BACKGROUND, Background, Change


def sources_of(
    values: Values, wires: Sequence[Wire], defaults: ClassVariables, duration_s: float
) -> list[Source]:
    """All background sources of a run.

    Raises:
        BdpbenchError: naming file and line, for keys that a kind lacks or does not have.
    """
    found: list[Source] = []
    for index, part in enumerate(values.study.scenarios[values.scenario].background):
        location = ("scenarios", values.scenario, "background", index)
        said = values.settled(part, location)
        _check_keys(values, said, location)
        _check_times(values, said, location, duration_s)
        source = _source(values, said, location, len(wires), defaults)
        found += [source] * int(said.count)
        if len(found) > MOST_SOURCES:
            raise values.study.error(location, f"more than {MOST_SOURCES} sources of background")
    return found


def _check_keys(values: Values, said: Background, location: Location) -> None:
    needed, optional = KEYS_OF_BACKGROUND[said.kind]
    for name in needed:
        if getattr(said, name) is None:
            raise values.study.error((*location, name), f"background of kind {said.kind} needs it")
    for name in said.model_fields_set:
        if name not in (*COMMON_OF_BACKGROUND, *needed, *optional):
            kinds = [kind for kind, keys in KEYS_OF_BACKGROUND.items() if name in sum(keys, ())]
            raise values.study.error(
                (*location, name),
                f"background of kind {said.kind} has no {name}",
                hint=f"{name} is of {', '.join(kinds)}",
            )
    if said.shape is not None and float(said.shape) <= 1:
        raise values.study.error(
            (*location, "shape"), "expected more than 1: otherwise there is no mean"
        )


def _check_times(values: Values, said: Background, location: Location, duration_s: float) -> None:
    latest_s = float(said.start_s) + float(said.start_within_s)
    if latest_s >= duration_s:
        raise values.study.error(
            (*location, "start_s"),
            f"it starts at {latest_s:g} s, but a run ends after {duration_s:g} s",
        )
    if said.stop_s is not None and float(said.stop_s) <= latest_s:
        raise values.study.error(
            (*location, "stop_s"), f"it stops at {said.stop_s} s but starts at {latest_s:g} s"
        )
    if said.stop_s is not None and float(said.stop_s) >= duration_s:
        raise values.study.error(
            (*location, "stop_s"),
            f"it stops at {said.stop_s} s, but a run ends after {duration_s:g} s",
            hint="leave out stop_s: it stops with the run",
        )


def _source(
    values: Values, said: Background, location: Location, links: int, defaults: ClassVariables
) -> Source:
    leaves = None if said.leaves is None else int(said.leaves)
    route = route_of(values, location, int(said.enters), leaves, said.direction, links)
    own = said.access_mbps
    more: Pairs = [
        ("kind", said.kind),
        ("start_s", float(said.start_s)),
        ("access_mbps", values.number("access_mbps", "the access rate") if own is None else own),
        ("access_delay_ms", float(said.access_delay_ms)),
        *([("within_s", float(said.start_within_s))] if said.start_within_s else []),
        *([] if said.stop_s is None else [("stop_s", float(said.stop_s))]),
        *route.arguments(links),
    ]
    make = {"web": web_source, "packmime": packmime_source}.get(said.kind)
    if make is not None:
        return make(values, said, location, route, more, defaults)
    names = ("rate_mbps", "packet_bytes", "burst_s", "idle_s", "shape")
    more += [(name, getattr(said, name)) for name in names if getattr(said, name) is not None]
    more += [("jitter", 1)] if said.jitter == "on" else []
    return Source(said.kind, route, _offered_mbps(said), None, more)


def _offered_mbps(said: Background) -> float:
    """Mean rate that a UDP source offers, Mbit/s."""
    burst_s, idle_s = float(said.burst_s or 1), float(said.idle_s or 0)
    return float(said.rate_mbps or 0) * burst_s / (burst_s + idle_s)


# ---------------------------------------------------------------- changes


def changes_of(values: Values, links: Sequence[Link], duration_s: float) -> list[Change]:
    """Changes of a run, in order of time.

    Raises:
        BdpbenchError: naming file and line, for a change of an unknown bottleneck, or after the
            end.
    """
    found: list[Change] = []
    for index, part in enumerate(values.study.scenarios[values.scenario].changes):
        location = ("scenarios", values.scenario, "changes", index)
        said = values.settled(part, location)
        if int(said.bottleneck) > len(links):
            raise values.study.error(
                (*location, "bottleneck"),
                f"bottleneck is {said.bottleneck}, but the topology has {len(links)}",
            )
        if float(said.at_s) >= duration_s:
            raise values.study.error(
                (*location, "at_s"),
                f"at_s is {said.at_s}, but a run ends after {duration_s:g} s",
            )
        if said.loss_rate is not None:
            burst = links[int(said.bottleneck) - 1].loss_burst_pkts
            check_burst(values, (*location, "loss_rate"), float(said.loss_rate), burst)
        for earlier in found:
            _check_once(values, earlier, said, location)
        found.append(said)
    return sorted(found, key=lambda change: float(change.at_s))


def _check_once(values: Values, earlier: Change, said: Change, location: Location) -> None:
    """Refuse two values for one thing at one time, of which the first would have no effect."""
    if (earlier.at_s, earlier.bottleneck) != (said.at_s, said.bottleneck):
        return
    for name in ("bottleneck_mbps", "bottleneck_delay_ms", "loss_rate"):
        if getattr(earlier, name) is not None and getattr(said, name) is not None:
            raise values.study.error(
                (*location, name),
                f"another change sets {name} of bottleneck {said.bottleneck} at {said.at_s} s",
                hint="leave out one of them",
            )


def change_arguments(changes: Sequence[Change]) -> Iterator[tuple[str, Scalar]]:
    """Keys of the script's arguments for changes, and their values."""
    if changes:
        yield "changes", len(changes)
    names = {"bottleneck_mbps": "mbps", "bottleneck_delay_ms": "delay_ms", "loss_rate": "loss_rate"}
    for index, change in enumerate(changes):
        yield f"change.{index}.at_s", float(change.at_s)
        yield f"change.{index}.link", int(change.bottleneck) - 1
        for name, key in names.items():
            value = getattr(change, name)
            if value is not None:
                yield f"change.{index}.{key}", value
