"""Sources of background traffic, and what those of several kinds have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bdpbench.contracts.plan import Scalar
from bdpbench.contracts.yaml_files import Location
from bdpbench.studies.flows import ResolvedFlow
from bdpbench.studies.network.senders import Route
from bdpbench.studies.network.values import Values
from bdpbench.studies.parts import Background, Quantity

Pairs = list[tuple[str, Scalar]]

_LINKS_OF_HOSTS = ("server_mbps", "server_delay_ms", "client_mbps", "client_delay_ms")


@dataclass(frozen=True)
class Source:
    """One source of background traffic.

    Attributes:
        kind: its kind.
        route: its path over the bottlenecks.
        mbps: mean rate that it offers, Mbit/s.
        sender: the sender that its connections count as for ns-2's behaviour; None for UDP.
        more: keys of the script's arguments, and their values.
        hosts: number of nodes that it adds to the network.
        transfers: whether what it transfers is recorded.
        pages: whether the pages of the web are recorded.
        connections_per_s: TCP connections per second.
        setup_s: additional CPU time before its traffic is steady, s.
    """

    kind: str
    route: Route
    mbps: float
    sender: ResolvedFlow | None
    more: Sequence[tuple[str, Scalar]]
    hosts: int = 2
    transfers: bool = False
    pages: bool = False
    connections_per_s: float = 0.0
    setup_s: float = 0.0

    def arguments(self, index: int) -> Iterator[tuple[str, Scalar]]:
        """Keys of the script's arguments, and their values."""
        for name, value in self.more:
            yield f"background.{index}.{name}", value


def hosts_arguments(
    values: Values, said: Background, location: Location
) -> Iterator[tuple[str, Scalar]]:
    """Arguments for the smallest and largest values of the links of servers and clients.

    Raises:
        BdpbenchError: for anything but a number or [least, most].
    """
    for name in _LINKS_OF_HOSTS:
        given = getattr(said, name)
        bounds = given if isinstance(given, list) else [given, given]
        if len(bounds) != 2 or float(bounds[0]) > float(bounds[1]):
            raise values.study.error(
                (*location, name), f"expected a number or [least, most] (got {given!r})"
            )
        role, _, unit = name.partition("_")
        yield name, bounds[0]
        yield f"{role}_most_{unit}", bounds[1]


def quantity_arguments(
    values: Values, said: Background, location: Location, name: str, key: str, suffix: str
) -> Iterator[tuple[str, Scalar]]:
    """Arguments for distribution, mean and shape of a quantity; none if it is not given.

    Args:
        values: parameters of the run.
        said: the source in study.yaml.
        location: where the source is in study.yaml.
        name: name of the quantity in study.yaml.
        key: key of the script's arguments.
        suffix: suffix of the mean's key.

    Raises:
        BdpbenchError: for a shape that is missing, too small or without effect.
    """
    quantity: Quantity | None = getattr(said, name)
    if quantity is None:
        return
    pareto = quantity.distribution.startswith("pareto")
    place = (*location, name, "shape")
    if pareto and (quantity.shape is None or float(quantity.shape) <= 1):
        raise values.study.error(place, f"{quantity.distribution} needs a shape above 1")
    if not pareto and quantity.shape is not None:
        raise values.study.error(place, f"{quantity.distribution} has no shape")
    yield key, quantity.distribution
    yield f"{key}{suffix}", quantity.mean
    if quantity.shape is not None:
        yield f"{key}_shape", quantity.shape
