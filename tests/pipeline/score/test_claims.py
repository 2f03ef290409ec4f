"""Each kind of claim holds, fails or lacks its run; the values are those of the fixture."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from bdpbench.contracts.plan import Plan
from bdpbench.errors import BdpbenchError
from bdpbench.score import Claim, Expectations, load_claims, score

METRICS = {"time_to_90pct_cwnd", "utilization", "asymmetry"}
HEAD = "- id: c\n  where: Section 1\n  found: stated\n  statement: It is so.\n"
HS40 = "{scenario: one, select: {protocol: HS, buffer_pkts: 40}, metric: utilization}"
HS200 = "{scenario: one, select: {protocol: HS, buffer_pkts: 200}, metric: utilization}"
HS500 = "{scenario: one, select: {protocol: HS, buffer_pkts: 500}, metric: utilization}"
SHARES = "{scenario: one, select: {protocol: HS, buffer_pkts: 40}, metric: asymmetry}"
ORDERED = "  kind: ordered_groups\n  groups: "
RENO = "{scenario: one, select: {protocol: Reno}, metric: utilization}"
RENO_TIME = "{scenario: one, select: {protocol: Reno}, metric: time_to_90pct_cwnd}"
HS_TIME = "{scenario: one, select: {buffer_pkts: 40, protocol: HS}, metric: time_to_90pct_cwnd}"
MEAN = "{scenario: one, select: {protocol: HS}, metric: utilization, mean_over: [buffer_pkts]}"
MEAN_GONE = "{scenario: empty, metric: utilization, mean_over: [buffer_pkts]}"
EACH = "  kind: for_each\n  values: "
OF_EACH = (
    "  claim:\n    kind: compare\n    op: '>'\n"
    "    left: {scenario: one, select: {buffer_pkts: 40}, metric: utilization}\n"
)
OF_ALL = (
    "  claim:\n    kind: compare\n    op: '>'\n    left: {scenario: one, metric: utilization}\n"
)
GONE = "{scenario: empty, metric: utilization}"


def _load(tmp_path: Path, body: str) -> list[Claim]:
    path = tmp_path / "claims.yaml"
    path.write_text(HEAD + body)
    return load_claims(path, METRICS)


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        (f"  kind: compare\n  left: {HS40}\n  op: '>'\n  right: 87.9\n", "holds"),
        (f"  kind: compare\n  left: {HS40}\n  op: '>'\n  right: 88\n", "fails"),
        (f"  kind: compare\n  left: {HS40}\n  op: '>='\n  right: 88\n", "holds"),
        # 88 < 1.8 · 50 = 90, but not < 1.7 · 50 = 85
        (f"  kind: compare\n  left: {HS40}\n  op: <\n  right: {RENO}\n  factor: 1.8\n", "holds"),
        (f"  kind: compare\n  left: {HS40}\n  op: <\n  right: {RENO}\n  factor: 1.7\n", "fails"),
        (f"  kind: compare\n  left: {RENO_TIME}\n  op: <\n  right: 99\n", "fails"),
        (f"  kind: compare\n  left: {GONE}\n  op: <\n  right: 99\n", "not_run"),
        (f"  kind: within\n  value: {HS40}\n  lower: 88\n  upper: 90\n", "holds"),
        (f"  kind: within\n  value: {HS40}\n  lower: 88.1\n  upper: 90\n", "fails"),
        (f"  kind: within\n  value: {GONE}\n  lower: 1\n  upper: 2\n", "not_run"),
        (f"  kind: never_reaches\n  value: {RENO_TIME}\n", "holds"),
        (f"  kind: never_reaches\n  value: {HS_TIME}\n", "fails"),
        (f"  kind: ranking\n  items: [{RENO}, {HS40}, {HS200}]\n  order: ascending\n", "holds"),
        (f"  kind: ranking\n  items: [{RENO}, {HS200}, {HS40}]\n  order: ascending\n", "fails"),
        (f"  kind: ranking\n  items: [{HS200}, {GONE}]\n  order: descending\n", "not_run"),
        (f"  kind: within\n  value: {SHARES}\n  lower: 0.01\n  upper: 0.03\n", "fails"),
        (
            f"  kind: within\n  value: {SHARES}\n  lower: 0.01\n  upper: 0.03\n  absolute: true\n",
            "holds",
        ),
        # 50 and 88, then 95 and 99; only 88 comes before 95
        (f"{ORDERED}[[{HS40}, {RENO}], [{HS500}, {HS200}]]\n  order: ascending\n", "holds"),
        (f"{ORDERED}[[{HS200}, {RENO}], [{HS500}, {HS40}]]\n  order: ascending\n", "fails"),
        (f"{ORDERED}[[{HS40}, {HS200}], [{RENO}]]\n  order: descending\n", "holds"),
        (f"{ORDERED}[[{RENO_TIME}], [{HS_TIME}]]\n  order: ascending\n", "fails"),  # never reached
        (f"{ORDERED}[[{HS40}, {GONE}], [{RENO}]]\n  order: descending\n", "not_run"),
        # 88 on both sides
        (f"{ORDERED}[[{RENO}, {HS40}], [{HS40}]]\n  order: ascending\n", "fails"),
        (f"{ORDERED}[[{RENO}, {HS40}], [{HS40}]]\n  order: ascending\n  strict: false\n", "holds"),
        # |-0.02| < 50
        (
            f"{ORDERED}[[{SHARES}], [{RENO}]]\n  order: ascending\n  absolute: true\n",
            "holds",
        ),
        # 95 - 50 = 45
        (f"  kind: spread\n  items: [{HS40}, {HS200}, {RENO}]\n  op: <\n  limit: 45\n", "fails"),
        (f"  kind: spread\n  items: [{HS40}, {HS200}, {RENO}]\n  op: <=\n  limit: 45\n", "holds"),
        (f"  kind: spread\n  items: [{HS_TIME}, {RENO_TIME}]\n  op: <\n  limit: 45\n", "fails"),
        (f"  kind: spread\n  items: [{HS40}, {GONE}]\n  op: <\n  limit: 45\n", "not_run"),
        # With a margin of 1.5, 50 passes for at least 51, and for less than 49.
        (f"  kind: compare\n  left: {RENO}\n  op: '>='\n  right: 51\n  margin: 1.5\n", "holds"),
        (f"  kind: compare\n  left: {RENO}\n  op: '>='\n  right: 51\n  margin: 0.5\n", "fails"),
        (f"  kind: compare\n  left: {RENO}\n  op: '<'\n  right: 49\n  margin: 1.5\n", "holds"),
        # (88 + 95 + 99) / 3 = 94
        (f"  kind: within\n  value: {MEAN}\n  lower: 93.9\n  upper: 94.1\n", "holds"),
        (f"  kind: compare\n  left: {MEAN}\n  op: '<'\n  right: 93.9\n", "fails"),
        (f"  kind: compare\n  left: {MEAN_GONE}\n  op: '<'\n  right: 1\n", "not_run"),
        (f"{EACH}{{protocol: [HS, Reno]}}\n{OF_EACH}    right: 49\n", "holds"),
        (f"{EACH}{{protocol: [HS, Reno]}}\n{OF_EACH}    right: 51\n", "fails"),
        # Reno has no run with a buffer of 200 packets, and there is none with 7.
        (f"{EACH}{{protocol: [HS, Reno], buffer_pkts: [200]}}\n{OF_ALL}    right: 51\n", "holds"),
        (f"{EACH}{{protocol: [HS], buffer_pkts: [7]}}\n{OF_ALL}    right: 51\n", "not_run"),
        (
            "  kind: monotone\n  scenario: one\n  select: {protocol: HS}\n  metric: utilization\n"
            "  along: buffer_pkts\n  direction: increasing\n",
            "holds",
        ),
        (
            "  kind: monotone\n  scenario: one\n  select: {protocol: HS}\n  metric: utilization\n"
            "  along: buffer_pkts\n  direction: decreasing\n",
            "fails",
        ),
        (  # a single run is no sweep
            "  kind: monotone\n  scenario: one\n  select: {protocol: Reno}\n"
            "  metric: utilization\n  along: buffer_pkts\n  direction: increasing\n",
            "not_run",
        ),
        (
            f"  kind: all_of\n  claims:\n    - {{kind: within, value: {HS40}, lower: 1, upper: 99}}"
            f"\n    - {{kind: never_reaches, value: {RENO_TIME}}}\n",
            "holds",
        ),
        (
            f"  kind: all_of\n  claims:\n    - {{kind: within, value: {HS40}, lower: 1, upper: 2}}"
            f"\n    - {{kind: within, value: {GONE}, lower: 1, upper: 2}}\n",
            "fails",
        ),
    ],
)
def test_a_claim_is_decided_by_the_runs(
    tmp_path: Path, plan: Plan, metrics: pl.DataFrame, body: str, verdict: str
) -> None:
    card = score(plan, metrics, Expectations([], _load(tmp_path, body)))
    (claim,) = card["claims"]
    assert claim["verdict"] == verdict
    assert card["claim_totals"][verdict] == 1
    assert claim["explanation"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("  kind: compared\n", "compared"),
        (f"{ORDERED}[[{HS40}], []]\n  order: ascending\n", "groups"),
        (f"  kind: spread\n  items: [{HS40}]\n  op: <\n  limit: 45\n", "items"),
        (f"  kind: within\n  value: {HS40}\n  lower: 1\n  uper: 2\n", "uper: unknown key"),
        (f"  kind: within\n  value: {HS40}\n  lower: 2\n  upper: 1\n", "no value is within"),
        ("  kind: never_reaches\n  value: {scenario: one, metric: utilisation}\n", "'utilization'"),
        (f"{EACH}{{buffer_pkts: [40]}}\n{OF_EACH}    right: 1\n", "its own buffer_pkts"),
        (f"  kind: compare\n  left: {HS40}\n  op: <\n  right: 1\n  margin: -1\n", "margin"),
    ],
)
def test_a_slip_names_the_file(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises(BdpbenchError, match=said) as caught:
        _load(tmp_path, body)
    assert "claims.yaml" in str(caught.value)


@pytest.mark.parametrize(
    ("along", "said"),
    [("buffer_pkt", "did you mean 'buffer_pkts'"), ("protocol", "'protocol' is not a number")],
)
def test_a_sweep_along_no_number_is_refused(
    tmp_path: Path, plan: Plan, metrics: pl.DataFrame, along: str, said: str
) -> None:
    body = (
        "  kind: monotone\n  scenario: one\n  select: {protocol: HS}\n  metric: utilization\n"
        f"  along: {along}\n  direction: increasing\n"
    )
    with pytest.raises(BdpbenchError, match=said):
        score(plan, metrics, Expectations([], _load(tmp_path, body)))


@pytest.mark.parametrize(
    ("margin", "direction", "verdict"),
    # Two protocols have runs with 40 packets: 88 and 50.
    [(0, "increasing", "holds"), (0, "decreasing", "fails"), (30, "decreasing", "fails")],
)
def test_a_sweep_of_means(
    tmp_path: Path, plan: Plan, metrics: pl.DataFrame, margin: int, direction: str, verdict: str
) -> None:
    body = (
        "  kind: monotone\n  scenario: one\n  metric: utilization\n  mean_over: [protocol]\n"
        f"  along: buffer_pkts\n  direction: {direction}\n  margin: {margin}\n"
    )
    (claim,) = score(plan, metrics, Expectations([], _load(tmp_path, body)))["claims"]
    assert claim["verdict"] == verdict
    assert "69 → 95 → 99" in claim["explanation"]


def test_steps_back_within_a_margin_are_overlooked(
    tmp_path: Path, plan: Plan, metrics: pl.DataFrame
) -> None:
    body = (
        "  kind: monotone\n  scenario: one\n  select: {protocol: HS}\n  metric: utilization\n"
        "  along: buffer_pkts\n  direction: increasing\n  margin: "
    )
    rise = metrics.with_columns(
        value=pl.when(pl.col("run_id") == "b").then(87.0).otherwise(pl.col("value"))
    )  # 88, 87, 99
    for margin, verdict in ((0.5, "fails"), (1.5, "holds")):
        (claim,) = score(plan, rise, Expectations([], _load(tmp_path, f"{body}{margin}\n")))[
            "claims"
        ]
        assert claim["verdict"] == verdict


def test_a_statement_of_each_case_tells_where_it_fails(
    tmp_path: Path, plan: Plan, metrics: pl.DataFrame
) -> None:
    body = f"{EACH}{{protocol: [HS, Reno]}}\n{OF_EACH}    right: 51\n"
    (claim,) = score(plan, metrics, Expectations([], _load(tmp_path, body)))["claims"]
    assert claim["explanation"] == "it holds in 1 of 2 cases, and not for Reno: 50 > 51"
    assert claim["protocols"] == ["HS", "Reno"]
    assert [each["run_id"] for each in claim["evidence"]] == ["a", "d"]
