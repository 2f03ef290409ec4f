"""What a study is: protocols, topologies, scenarios, sweeps and tiers, as ``study.yaml`` says it.

The classes below are the only definition of that file: they validate it, they generate
``workflow/schemas/study.schema.json``, and their descriptions are what an editor shows.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from bdpbench.contracts.yaml_files import suggest

TierName = Literal["quick", "paper", "full"]
TIERS: tuple[TierName, ...] = ("quick", "paper", "full")
DUMBBELL_SCRIPT = "dumbbell.tcl"
DATADIR_ARGUMENT = "DATADIR"

Scalar = int | float | str
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
Key = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]
ClassName = Annotated[str, Field(pattern=r"^[A-Z][A-Za-z0-9/]*$")]
VariableName = Annotated[str, Field(pattern=r"^[a-z][A-Za-z0-9_]*_$")]


class Strict(BaseModel):
    """A model that takes no key it does not know and no text for a number."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Protocol(Strict):
    """One congestion control variant, and how ``dumbbell.tcl`` makes an agent of it.

    The scripts of a study know their protocols by key and set them up themselves.
    """

    label: str = Field(description="Name in tables and plots, e.g. HS-TCP")
    colour: str = Field(pattern=r"^#[0-9a-fA-F]{6}$", description="Colour in every plot, #rrggbb")
    agent: ClassName = Field("TCP/Sack1", description="ns-2 agent class, without 'Agent/'")
    sink: ClassName = Field("TCPSink/Sack1", description="ns-2 sink class, without 'Agent/'")
    linux: str | None = Field(
        None, pattern=r"^[a-z0-9]+$", description="Congestion control of Agent/TCP/Linux"
    )
    settings: dict[VariableName, float] = Field(
        default_factory=dict, description="Variables of the agent, e.g. windowOption_: 8"
    )


class Parameters(Strict):
    """Parameters of one run. A parameter that a scenario does not use is left out."""

    protocol: Key | None = Field(None, description="Protocol of every flow that names none")
    protocol_1: Key | None = Field(None, description="Protocol of the flow that starts first")
    protocol_2: Key | None = Field(None, description="Protocol of the second flow")
    duration_s: Positive | None = Field(None, description="Simulated time, s")
    flow2_start_s: NonNegative | None = Field(None, description="Start of the second flow, s")
    bottleneck_mbps: Positive | None = Field(None, description="Bottleneck rate, Mbit/s")
    bottleneck_delay_ms: NonNegative | None = Field(
        None, description="One-way propagation delay of the bottleneck, ms"
    )
    access_mbps: Positive | None = Field(None, description="Rate of the access links, Mbit/s")
    access_delay_ms: NonNegative | None = Field(
        None, description="One-way propagation delay from a sender to the first router, ms"
    )
    receiver_delay_ms: NonNegative | None = Field(
        None, description="One-way propagation delay from the second router to a receiver, ms"
    )
    rtt_ms: Positive | None = Field(
        None, description="Nominal RTT, ms; computed from the delays where it is not given"
    )
    rtt_1_ms: Positive | None = Field(None, description="Nominal RTT of the first flow, ms")
    rtt_2_ms: Positive | None = Field(None, description="Nominal RTT of the second flow, ms")
    rtt_diff_ms: NonNegative | None = Field(
        None, description="Two-way delay of the varied access link, ms (sharma2006, Appendix G)"
    )
    varied_flow: Annotated[int, Field(ge=0, le=1)] | None = Field(
        None, description="Flow whose access delay is varied: 0 or 1"
    )
    buffer_pkts: Count | None = Field(None, description="Bottleneck queue limit, packets")
    packet_bytes: Count | None = Field(None, description="TCP payload of a segment, bytes")
    queue: Literal["DropTail", "RED"] | None = Field(None, description="Bottleneck queue")
    drop_packet: Count | None = Field(
        None, description="Number of the packet that is dropped at the bottleneck"
    )
    fast_alpha_pkts: Count | None = Field(None, description="FAST's alpha and beta, packets")
    rtt_factor: Positive | None = Field(
        None, description="RTT of the second flow as a multiple of the first flow's"
    )
    error_pct: Annotated[float, Field(ge=0, lt=100, allow_inf_nan=False)] | None = Field(
        None, description="Share of the time that a lossy channel is in its bad state, %"
    )
    bad_state_s: Positive | None = Field(
        None, description="Mean stay of a lossy channel in its bad state, s"
    )
    flows: Count | None = Field(None, description="Number of flows")
    sample_s: Positive | None = Field(None, description="Sampling interval of cwnd and queue, s")
    run: Count | None = Field(None, description="Substream of ns-2's random number generator")
    trace: Literal["none", "packets", "stream"] | None = Field(
        None,
        description="'packets' writes the packet trace of the bottleneck; 'stream' reduces it "
        "while ns-2 runs and keeps only the sums of flows and links, and their series",
    )


class Topology(Strict):
    """A dumbbell: senders, a bottleneck between two routers, receivers."""

    description: str = ""
    parameters: Parameters = Field(description="Rates, delays and buffer that its runs share")


class Flow(Strict):
    """One kind of flow of a scenario that runs ``dumbbell.tcl``."""

    protocol: Key | None = Field(None, description="Protocol; that of the run where it is absent")
    count: Count = Field(1, description="How many such flows")
    start_s: NonNegative = Field(0.0, description="Start of the first of them, s")
    stagger_s: NonNegative = Field(0.0, description="Later start of each further one, s")
    access_delay_ms: NonNegative | None = Field(
        None, description="One-way delay to the first router, ms; that of the topology if absent"
    )


class Output(Strict):
    """A file that a script writes, and the table that it becomes."""

    file: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+$")]
    table: Literal[
        "cwnd",
        "ssthresh",
        "sequence",
        "acknowledged",
        "throughput",
        "queue",
        "utilization",
        "packets",
    ]
    flow: Annotated[int, Field(ge=0)] | None = None
    link: str | None = None


class TierEntry(Strict):
    """Which runs of a scenario a tier holds, and for how long they are simulated."""

    duration_s: Positive = Field(description="Simulated time, s")
    only: dict[str, list[Scalar]] = Field(
        default_factory=dict,
        description="Keeps the runs whose parameter has one of these values; absent keeps all",
    )


class Scenario(Strict):
    """One experiment: a script, its parameters, and what is swept."""

    title: str
    description: str = ""
    section: str = Field("", description="Section of the paper, e.g. 4.1.3.1")
    figures: list[str] = Field(default_factory=list, description="Figures of the paper")
    script: Annotated[str, Field(pattern=r"^[A-Za-z0-9_/-]+\.tcl$")] = Field(
        DUMBBELL_SCRIPT, description="Script under tcl/"
    )
    scripts: str | None = Field(
        None,
        min_length=1,
        description="Folder with a script of the same file name that takes its place, such as "
        "`bdpbench recover` writes; relative to the folder of study.yaml",
    )
    topology: Key
    arguments: list[str] = Field(
        default_factory=list,
        description="Parameters in the order of the script's arguments; DATADIR stands for the "
        "output folder. dumbbell.tcl takes its arguments by name and needs no list",
    )
    parameters: Parameters = Parameters()
    sweep: dict[str, list[Scalar]] = Field(
        default_factory=dict, description="Parameter → values; several make a grid"
    )
    cases: list[Parameters] = Field(
        default_factory=list, description="Parameters that change together, crossed with the sweep"
    )
    flows: list[Flow] = Field(default_factory=list, description="Flows, for dumbbell.tcl")
    outputs: Key | None = Field(None, description="Name of a set under output_sets")
    summary: list[str] = Field(
        default_factory=list,
        description="Metrics that the report draws over the sweep, beside those with published "
        "numbers",
    )
    tiers: dict[TierName, list[TierEntry]] = Field(description="Tier → the runs that it holds")


class Citation(Strict):
    """The paper that the study reproduces."""

    authors: str
    title: str
    venue: str
    year: int
    url: str = ""
    doi: str = ""
    bibtex: str = ""


class Study(Strict):
    """``config/studies/<key>/study.yaml``."""

    schema_version: Literal[1]
    key: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    title: str
    description: str = ""
    citation: Citation | None = None
    protocols: dict[Key, Protocol]
    topologies: dict[Key, Topology]
    output_sets: dict[Key, list[Output]] = Field(default_factory=dict)
    scenarios: dict[Key, Scenario]

    @model_validator(mode="before")
    @classmethod
    def _mapping(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            raise ValueError("expected a mapping with the keys of a study")
        return data


def known_or_suggest(name: str, known: Any, what: str) -> tuple[str, str] | None:
    """None where ``name`` is known, else a message and a hint."""
    if name in known:
        return None
    return f"unknown {what} {name!r}", suggest(name, known)
