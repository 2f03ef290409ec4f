"""What queues drop and mark, as counted by ns-2's own monitors."""

from __future__ import annotations

from bdpbench.metrics.definition import flow_metric, link_metric
from bdpbench.metrics.views import FlowView, LinkView, View, counted
from bdpbench.metrics.words import COUNTED

_RED = "Floyd and Jacobson (1993), Random Early Detection Gateways; ns-2, red.cc"
_RANDOM = "ns-2, errmodel.cc; RFC 5166, section 2.1.3"
_ECN = "RFC 3168, section 5; ns-2, red.cc"

# Sampled links are on the path of the data; links in the other direction are also counted.
_OF_LINKS = ("queue", "facts")


def _is_counted(view: View) -> bool:
    """Whether packets arriving at the queue were counted, and there were any."""
    return bool(_arrivals(view))


def _has_early_drops(link: LinkView) -> bool:
    return _is_counted(link) and link.fact("early_drops") is not None


def _has_forced_drops(link: LinkView) -> bool:
    return _is_counted(link) and link.fact("forced_drops") is not None


def _has_marks(link: LinkView) -> bool:
    return _is_counted(link) and link.fact("marks") is not None


def _has_random_losses(link: LinkView) -> bool:
    return _is_counted(link) and link.fact("random_losses") is not None


@flow_metric(
    unit="%",
    title="Loss rate",
    text="Packets of the flow that were lost at the first bottleneck of its path, as a share of "
    f"those that were lost there or departed, {COUNTED}.",
    source="RFC 5166, section 2.1.3",
    tables=("facts",),
    window=counted,
    when=_is_counted,
    version=1,
)
def loss_rate(flow: FlowView) -> float | None:
    return _share(flow, "drops")


@link_metric(
    unit="%",
    title="Loss rate of the link",
    text="Packets that were lost at the link, dropped by its queue or at random before it, as a "
    f"share of those that were lost or departed, {COUNTED}.",
    source="RFC 5166, section 2.1.3",
    tables=_OF_LINKS,
    window=counted,
    when=_is_counted,
    version=1,
)
def link_loss_rate(link: LinkView) -> float | None:
    return _share(link, "drops")


@link_metric(
    unit="packets",
    title="Early drops",
    text=f"Packets that the queue dropped before it was full, by its law, {COUNTED}.",
    source=_RED,
    tables=_OF_LINKS,
    window=counted,
    when=_has_early_drops,
    version=1,
)
def early_drops(link: LinkView) -> float | None:
    return link.fact("early_drops")


@link_metric(
    unit="%",
    title="Early drop rate",
    text="Packets that the queue dropped before it was full, by its law, as a share of those that "
    f"were lost or departed, {COUNTED}.",
    source=_RED,
    tables=_OF_LINKS,
    window=counted,
    when=_has_early_drops,
    version=1,
)
def early_drop_rate(link: LinkView) -> float | None:
    return _share(link, "early_drops")


@link_metric(
    unit="packets",
    title="Forced drops",
    text="Packets that the queue had to drop, because it was full or its average beyond the range "
    f"in which it drops by chance, {COUNTED}.",
    source=_RED,
    tables=_OF_LINKS,
    window=counted,
    when=_has_forced_drops,
    version=1,
)
def forced_drops(link: LinkView) -> float | None:
    return link.fact("forced_drops")


@link_metric(
    unit="%",
    title="Forced drop rate",
    text="Packets that the queue had to drop, because it was full or its average beyond the range "
    "in which it drops by chance, as a share of those that it dropped or let go, "
    f"{COUNTED}.",
    source=_RED,
    tables=_OF_LINKS,
    window=counted,
    when=_has_forced_drops,
    version=1,
)
def forced_drop_rate(link: LinkView) -> float | None:
    return _share(link, "forced_drops")


@link_metric(
    unit="packets",
    title="Marks",
    text=f"Packets that the queue marked with ECN in the place of a drop, {COUNTED}.",
    source=_ECN,
    tables=_OF_LINKS,
    window=counted,
    when=_has_marks,
    version=1,
)
def marks(link: LinkView) -> float | None:
    return link.fact("marks")


@link_metric(
    unit="%",
    title="Mark rate",
    text="Packets that the queue marked with ECN in the place of a drop, as a share of those that "
    f"were lost or departed, {COUNTED}.",
    source=_ECN,
    tables=_OF_LINKS,
    window=counted,
    when=_has_marks,
    version=1,
)
def mark_rate(link: LinkView) -> float | None:
    return _share(link, "marks")


@link_metric(
    unit="packets",
    title="Random losses",
    text="Packets that were lost at random before the link's queue, as the scenario says, and not "
    f"by the queue, {COUNTED}.",
    source=_RANDOM,
    tables=_OF_LINKS,
    window=counted,
    when=_has_random_losses,
    version=1,
)
def random_losses(link: LinkView) -> float | None:
    return link.fact("random_losses")


@link_metric(
    unit="%",
    title="Rate of random losses",
    text="Packets that were lost at random before the link's queue, as the scenario says, and not "
    f"by the queue, as a share of those that were lost or departed, {COUNTED}.",
    source=_RANDOM,
    tables=_OF_LINKS,
    window=counted,
    when=_has_random_losses,
    version=1,
)
def random_loss_rate(link: LinkView) -> float | None:
    return _share(link, "random_losses")


def _arrivals(view: View) -> float | None:
    """Packets that a queue dropped or forwarded; None if they were not counted."""
    packets, drops = view.fact("packets"), view.fact("drops")
    return None if packets is None or drops is None else packets + drops


def _share(view: View, fact: str) -> float | None:
    count, arrivals = view.fact(fact), _arrivals(view)
    return 100 * count / arrivals if count is not None and arrivals else None
