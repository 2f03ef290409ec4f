"""The page as a whole: structure, links, escaping, missing data, and that it loads nothing."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from bdpbench.errors import BdpbenchError
from bdpbench.metrics.derived import drops_per_sample, queue_shares
from bdpbench.pages.packing import unpack
from bdpbench.pages.report import build_report
from bdpbench.pages.series import bins_for, series_text
from bdpbench.pages.texts import ProtocolText, Statement, StudyPage

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&"


def _headings(page: Any) -> list[int]:
    return [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]


@pytest.fixture(scope="module")
def parts(html: str, parts_of: Any) -> Any:
    """Charts and series of the page: chart id → content, run id → series."""
    found = parts_of(html)
    keys = ("charts", "series", "rows")
    return {key: {k: v for each in found for k, v in each[key].items()} for key in keys}


def _charts(parts: Any) -> dict[str, Any]:
    """Chart id → content, including the charts of packed runs."""
    packed = [row["charts"] for row in parts["rows"].values() if "charts" in row]
    return parts["charts"] | {key: chart for each in packed for key, chart in each.items()}


def _data(html: str, element_id: str) -> Any:
    found = re.search(f'<script type="application/json" id="{element_id}">(.*?)</script>', html)
    assert found
    return json.loads(found.group(1))


def test_elements_are_closed_and_ids_are_unique(page: Any) -> None:
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))


def test_every_inner_link_has_its_target(page: Any) -> None:
    targets = {each["href"][1:] for each in page.all("a") if each.get("href", "").startswith("#")}
    assert {"scorecard", "runs", "definitions", "provenance"} <= targets
    assert targets <= set(page.ids)


def test_the_summary_comes_first_and_headings_do_not_skip_a_level(page: Any) -> None:
    titles = [text for tag, text in page.texts if tag == "h2"]
    assert titles == [
        "Summary",
        "Comparison",
        "Experiments",
        "Scorecard",
        "Statements",
        "Protocols",
        "Runs",
        "Definitions",
        "Parameters",
        "Provenance",
    ]
    levels = _headings(page)
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_nothing_is_loaded_from_outside(page: Any) -> None:
    assert not [each for _, each in page.elements if "src" in each]
    assert [each["href"] for each in page.all("link")] == ["data:,"]
    assert not re.search(r"@import|url\(", " ".join(t for tag, t in page.texts if tag == "style"))
    away = [each["href"] for each in page.all("a") if "://" in each.get("href", "")]
    # The citation of the study, and the sources on the pages of the protocols.
    assert away[0] == "https://example.org/sawtooth"
    assert all(each.startswith("https://www.rfc-editor.org/rfc/") for each in away[1:])
    policy = next(e["content"] for e in page.all("meta") if "http-equiv" in e)
    assert policy.startswith("default-src 'none';")


def test_vega_is_embedded_once(html: str) -> None:
    (packed,) = re.findall(r'id="vega">(.*?)</script>', html)
    assert "window.vegaEmbed=" in unpack(packed)


def test_tables_have_headers_with_scope(page: Any) -> None:
    headers = page.all("th")
    assert headers
    assert {each.get("scope") for each in headers} == {"col", "row"}


def test_every_chart_has_a_text_alternative_a_caption_and_content(parts: Any, page: Any) -> None:
    drawn = [each for each in page.all("div") if "data-chart" in each]
    assert all(each["role"] == "group" and len(each["aria-label"]) > 20 for each in drawn)
    # The picture of all numbers also has one.
    assert len(page.all("figcaption")) == len(drawn) + 1
    assert {each["data-chart"] for each in drawn} == set(_charts(parts))


def test_every_line_of_a_chart_has_its_points(parts: Any, unpack: Any) -> None:
    for chart in _charts(parts).values():
        for trace in chart.get("traces", []):
            times, values = unpack(parts["series"][trace["run"]][chart["kind"]][trace["subject"]])
            assert len(times) == len(values) > 0


def test_a_spike_of_one_sample_is_on_the_page(parts: Any, inputs: Any, unpack: Any) -> None:
    run_id = inputs.plan["runs"][0]["run_id"]
    # SPIKE_PACKETS of the synthetic study, at sample 1234 of 0.01 s.
    times, values = unpack(parts["series"][run_id]["cwnd"]["flow:0"])
    assert max(values) == pytest.approx(9876, abs=5)  # half a step of 10 packets
    assert times[values.index(max(values))] == pytest.approx(12.34)


def test_every_number_links_to_its_run_and_shows_both_values(page: Any, inputs: Any) -> None:
    links = {each.get("href") for each in page.all("a")}
    for number in inputs.scorecard["numbers"]:
        assert f"number-{number['id']}" in page.ids
        for run_id in number["run_ids"]:
            assert f"#run-{run_id}" in links
    for text in ("88.76 %", "88.75 %", "−0.01 points", "known miss", "never reached", "no value"):
        assert text in page.text


def test_verdicts_are_told_by_word_and_symbol(page: Any) -> None:
    for text in ("✓ reproduced", "≈ close", "✗ not reproduced", "○ not run", "✓ holds"):
        assert text in page.text


def test_runs_say_how_to_repeat_them_and_link_their_files(page: Any, inputs: Any) -> None:
    run_id = inputs.plan["runs"][0]["run_id"]
    assert "./bdpbench run synthetic --tier quick --scenario single_flow --protocol HS" in page.text
    assert 'ns2 path)" tcl/synthetic/single_flow.tcl 30 out' in page.text
    links = [each.get("href", "") for each in page.all("a")]
    assert f"../../runs/{run_id[:2]}/{run_id}/out/cwnd_hstcp.out" in links


def test_a_run_that_was_brought_without_its_outputs_links_none(
    inputs: Any, parse_page: Any, tmp_path: Path
) -> None:
    build_report(replace(inputs.frozen(), places={}), tmp_path / "report.html")
    page = parse_page((tmp_path / "report.html").read_text())
    assert "Its output files are not in this results folder" in page.text
    assert "cwnd_hstcp.out" in page.text
    assert not [each for each in page.all("a") if each.get("href", "").startswith("../../runs/")]


def test_a_run_tells_the_checksum_of_its_script(
    inputs: Any, tmp_path: Path, parse_page: Any
) -> None:
    path = "tcl/synthetic/single_flow.tcl"
    for info in inputs.run_info.values():
        info["script"] = {"path": path, "files": {"tcl/lib/args.tcl": "ab" * 32, path: "cd" * 32}}
    page = parse_page(inputs.build(tmp_path / "report.html"))
    assert page.text.count("cd" * 32) == len(inputs.run_info)
    assert "ab" * 32 not in page.text


def test_parameters_are_told_as_they_are_declared(page: Any) -> None:
    """With the reason why ns-2 does not get one; parameters that no run has are left out."""
    why = "It is not passed to ns-2, because the links have delays <of their own>."
    assert f"RTT rtt_ms Nominal RTT. {why}" in page.text
    assert "buffer buffer_pkts Queue limit." in page.text
    assert "unused_s" not in page.text


def test_runs_without_results_and_tables_without_samples_are_named(page: Any) -> None:
    assert "1 of 1 planned runs has no results yet." in page.text
    assert "no results yet" in page.text
    assert "Not sampled: throughput of each flow, load of the bottleneck" in page.text
    assert "Not reached: HS-TCP, buffer 40 packets, 30 s" in page.text


def test_sweep_shows_published_beside_measured(parts: Any) -> None:
    chart = parts["charts"]["buffer_size-sweep-utilization"]["spec"]
    published, measured = chart["datasets"].values()
    assert [(p["x"], p["value"], p["series"]) for p in published] == [
        (40, 88.76, "HS-TCP"),
        (40, 49.8, "Scalable TCP"),
    ]
    assert sorted({point["x"] for point in measured}) == [40, 200, 1555]
    assert all(point["run_id"] for point in measured)


def test_hostile_text_stays_text(inputs: Any, tmp_path: Path, parse_page: Any) -> None:
    harmless = parse_page(inputs.build(tmp_path / "harmless.html"))
    citation = inputs.study.citation.model_copy(update={"url": "javascript:alert(3)"})
    said = {"HS": ProtocolText(said=[Statement(where=HOSTILE, text=HOSTILE)])}
    inputs.study = replace(
        inputs.study,
        title=HOSTILE,
        description=HOSTILE,
        notes=HOSTILE,
        citation=citation,
        page=StudyPage(choices=HOSTILE, protocols=said),
    )
    for key in ("title", "description", "section"):
        inputs.plan["scenarios"]["buffer_size"][key] = HOSTILE
    inputs.plan["protocols"] = {
        key: {**each, "label": f"{key} {HOSTILE}"} for key, each in inputs.plan["protocols"].items()
    }
    for run in inputs.plan["runs"]:
        run["label"] += HOSTILE
        run["argv"] = [HOSTILE]
    for number in inputs.scorecard["numbers"]:
        number.update(note=HOSTILE, where=HOSTILE, reason=HOSTILE, why=HOSTILE)
    for claim in inputs.scorecard["claims"]:
        claim.update(statement=HOSTILE, explanation=HOSTILE)
    for info in inputs.run_info.values():
        info["ns2_report"] = HOSTILE
    page = parse_page(inputs.build(tmp_path / "hostile.html"))
    assert len(page.all("script")) == len(harmless.all("script"))
    assert not page.all("img")
    assert not [name for _, each in page.elements for name in each if name.startswith("on")]
    assert not [each for each in page.all("a") if each.get("href", "").startswith("javascript")]
    assert "<script>alert(1)</script>" in page.text


def test_choices_and_notes_are_linked(inputs: Any, tmp_path: Path, parse_page: Any) -> None:
    inputs.study = replace(
        inputs.study, notes="# Bounds\n", page=StudyPage(choices="We chose 2 (NOTES, Bounds).")
    )
    for number in inputs.scorecard["numbers"]:
        number.update(why="See NOTES.")
    page = parse_page(inputs.build(tmp_path / "report.html"))
    assert "We chose 2 ( NOTES, Bounds ). How the study was read" in page.text
    links = [each["href"] for each in page.all("a") if each.get("href", "").startswith("#notes")]
    assert set(links) == {"#notes", "#notes-bounds"}
    assert len(links) > len(inputs.scorecard["numbers"])


def test_another_reading_stands_beside_the_judged_one(
    inputs: Any, tmp_path: Path, parse_page: Any
) -> None:
    (claim, *_) = inputs.scorecard["claims"]
    (number, *_) = inputs.scorecard["numbers"]
    fails = {**claim, "verdict": "fails", "explanation": "7 < 5"}
    read = {"numbers": [{**number, "verdict": "close", "measured": 3.5}], "claims": [fails]}
    inputs.scorecard["readings"] = {"longer <runs>": read}
    page = parse_page(inputs.build(tmp_path / "report.html"))
    assert "Another reading, longer <runs> , decides nothing" in page.text
    assert "Of 1 statements it judges: 1 fail ; the judged runs have 1 hold." in page.text
    assert "With longer <runs>: fails. 7 < 5" in page.text
    assert "longer <runs>: ≈ close" in page.text


def test_partial_results_make_a_page(inputs: Any, tmp_path: Path, parse_page: Any) -> None:
    inputs.run_info.clear()
    inputs.metrics = inputs.metrics.clear()
    inputs.scorecard["numbers"] = inputs.scorecard["claims"] = []
    for key in ("totals", "claim_totals"):
        inputs.scorecard[key] = dict.fromkeys(inputs.scorecard[key], 0)
    inputs.study = replace(inputs.study, citation=None, notes="", description="")
    page = parse_page(inputs.build(tmp_path / "report.html"))
    assert "0 of 12 planned" in page.text


def test_a_study_of_ones_own_is_no_reproduction(
    inputs: Any, tmp_path: Path, parse_page: Any
) -> None:
    inputs.scorecard["numbers"] = inputs.scorecard["claims"] = []
    inputs.study = replace(inputs.study, citation=None)
    inputs.metrics = inputs.metrics.filter(pl.col("metric") == "utilization")
    page = parse_page(inputs.build(tmp_path / "report.html"))
    assert "Simulations with ns-2.35" in page.text
    assert "With the buffer at 40\u00a0packets, " in page.text
    for word in ("Reproduction", "published study", "Scorecard", "Statements", "study prints"):
        assert word not in page.text
    # Only metrics that were measured are defined.
    assert "Definition utilization/1." in page.text
    assert "Definition asymmetry/1." not in page.text


def test_misses_are_explained_and_the_doubtful_come_first(page: Any) -> None:
    rows = [each["id"] for each in page.all("tbody") if each.get("id", "").startswith("number-")]
    # Two are not reproduced, one of which has no value; then close, reproduced, not run.
    assert set(rows[:2]) == {"number-scalable-40", "number-hs-null"}
    assert rows[2:] == ["number-hs-time", "number-hs-40", "number-hs-20ms"]
    assert "a reason known before the run" in page.text.partition("numbers outside")[0]


def test_a_run_of_two_scenarios_counts_once(inputs: Any, tmp_path: Path, parse_page: Any) -> None:
    # 12 runs are planned and 11 finished; one of them also counts for a second scenario.
    inputs.plan["runs"].append({**inputs.plan["runs"][0], "scenario": "buffer_size"})
    page = parse_page(inputs.build(tmp_path / "report.html"))
    assert "11 of 12 planned" in page.text
    assert "1 of 12 planned runs has no results yet." in page.text


def test_null_columns_and_missing_memory_are_shown_as_unknown(
    inputs: Any, tmp_path: Path, parse_page: Any
) -> None:
    inputs.metrics = inputs.metrics.with_columns(
        value=pl.lit(None, pl.Float64), start_s=pl.lit(None, pl.Float64)
    )
    for info in inputs.run_info.values():
        info.update(cpu_s=None, max_rss_kib=None)
    page = parse_page(inputs.build(tmp_path / "report.html"))
    assert "not recorded" in page.text


def test_equal_inputs_give_equal_bytes(inputs: Any, tmp_path: Path, html: str) -> None:
    assert inputs.build(tmp_path / "again.html") == html


def test_series_that_nobody_has_kept_are_made_of_the_tables(
    inputs: Any, tmp_path: Path, html: str
) -> None:
    out = tmp_path / "report.html"
    build_report(replace(inputs.frozen(), load_series=None), out)
    assert out.read_text(encoding="utf-8") == html


def test_a_failed_build_leaves_the_old_page(inputs: Any, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    out.write_text("old", encoding="utf-8")
    inputs.scorecard["numbers"][0]["verdict"] = "unheard of"
    with pytest.raises(KeyError):
        inputs.build(out)
    assert out.read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_a_checkout_without_assets_is_named(
    inputs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BDPBENCH_ROOT", str(tmp_path))
    with pytest.raises(
        BdpbenchError, match=r"captions\.yaml: a file that every report needs"
    ) as caught:
        inputs.build(tmp_path / "report.html")
    assert caught.value.hint


def test_a_scenario_can_keep_values_only(
    inputs: Any, tmp_path: Path, parse_page: Any, parts_of: Any
) -> None:
    places = [(run["run_id"], run["scenario"]) for run in inputs.plan["runs"]]
    key = places[0][1]
    elsewhere = {run_id for run_id, scenario in places if scenario != key}
    alone = {run_id for run_id, scenario in places if scenario == key} - elsewhere
    assert alone
    assert elsewhere
    inputs.plan["scenarios"][key]["time_series"] = False
    html = inputs.build(tmp_path / "report.html")
    series = {run: tables for part in parts_of(html) for run, tables in part["series"].items()}
    assert {run for run, tables in series.items() if not tables} == alone & inputs.run_info.keys()
    page = parse_page(html)
    assert page.open == []
    assert page.text.count("The report keeps only values of these runs") == 1
    assert page.text.count("The report keeps only values of this run") == len(alone)
    assert not any(each.startswith(f"view-{key}-") for each in page.ids)


def test_large_studies_stay_small(inputs: Any, tmp_path: Path) -> None:
    """250 runs of two flows with seven series each, all of them noise: the worst case."""
    time = [i / 10 for i in range(5_001)]
    flows = pl.DataFrame({"flow": [0, 1]})
    noise = pl.DataFrame({"time_s": time, "value": [i * 7919 % 9000 for i in range(5_001)]})
    queue = noise.rename({"value": "pkts"}).with_columns(
        link=pl.lit("bottleneck"), drops=3 * pl.col("time_s").rank("ordinal").cast(pl.Int64)
    )
    tables = {
        "cwnd": flows.join(noise.rename({"value": "cwnd_pkts"}), how="cross"),
        "throughput": flows.join(noise.rename({"value": "mbps"}), how="cross").gather_every(10),
        "queue": queue,
        "queue_share": queue_shares(queue),
        "drops": drops_per_sample(queue),
        "utilization": noise.rename({"value": "mbps"}).with_columns(link=pl.lit("bottleneck")),
    }
    template = inputs.plan["runs"][8]
    info = inputs.run_info[template["run_id"]]
    inputs.plan["runs"] = [
        {**template, "run_id": f"{i:016x}", "label": f"pair {i}"} for i in range(250)
    ]
    inputs.run_info = {run["run_id"]: info for run in inputs.plan["runs"]}
    inputs.load_table = lambda _, table: tables[table].lazy() if table in tables else None
    inputs.scorecard["numbers"] = inputs.scorecard["claims"] = []
    series = series_text("0" * 16, inputs.load_table, bins_for(250))
    out = tmp_path / "report.html"
    build_report(replace(inputs.frozen(), load_series=lambda *_: series), out)
    html = out.read_text()
    # 288 bins: 4 series of 578 points and 2 of 502, each point 1 to 2 bytes of time and 2 to 3 of
    # value, 5 bytes in base85 for 4: 250 · 3,316 · 4 · 5/4 = 4.1 MB. Drops are 288 points and the
    # distribution 100, of 4 bytes again: 0.5 MB. Vega is 0.4 MB, the rest text.
    assert len(html.encode()) < 7_000_000
