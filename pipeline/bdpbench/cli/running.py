"""The commands that run a study, and say what there is to run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from bdpbench.cli.options import (
    PATH,
    Words,
    backend_option,
    engine_option,
    kept_engine_option,
    selection_options,
    study_argument,
    tier_option,
)


@click.command("run")
@study_argument
@tier_option
@selection_options
@backend_option
@engine_option
@click.option("-j", "--jobs", type=click.IntRange(1), help="Simulations at once.")
@click.option("-k", "--keep-going", is_flag=True, help="Continue with other runs if one fails.")
@click.option(
    "-n", "--dry-run", is_flag=True, help="Only say what would be simulated, why, and for how long."
)
@click.option("-q", "--quiet", is_flag=True, help="Print errors only.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print everything as JSON, one object per line."
)
@click.option("--profile", type=PATH, help="Snakemake profile to run with.")
def run_command(scenarios: Words, protocols: Words, **asked: Any) -> None:
    """Simulate the missing runs of STUDY and write its report.

    Finished runs are kept and never simulated again. After an interruption, call the same command
    to resume.
    """
    from bdpbench.app.run import RunRequest, run_study
    from bdpbench.studies.plan import Selection

    run_study(RunRequest(selection=Selection(scenarios, protocols), **asked))


@click.command("evaluate")
@click.argument("protocols", nargs=-1, required=True, metavar="[NAME=]PROTOCOL...")
@click.option("--quick", is_flag=True, help="Some runs of each study: minutes instead of hours.")
@click.option("--study", "studies", multiple=True, help="Only this study; may be repeated.")
@click.option("--name", help="Name of the folder in results/evaluations/.")
@click.option("--against", type=PATH, help="Show what changed since this evaluation, a folder.")
@click.option("--export", type=PATH, help="Folder for tables (LaTeX, CSV), figures and values.")
@click.option("--format", "formats", default="pdf", show_default=True, help="Of the figures.")
@click.option("--pdf", is_flag=True, help="Print the report, with an installed Chromium or Chrome.")
@backend_option
@click.option("-j", "--jobs", type=click.IntRange(1), help="Simulations at once.")
@click.option("-n", "--dry-run", is_flag=True, help="Only say what would be simulated.")
@click.option("-q", "--quiet", is_flag=True, help="Print errors only.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON, a line each.")
@click.option("--profile", type=PATH, help="Snakemake profile to run with.")
def evaluate_command(
    protocols: Words,
    against: Path | None,
    export: Path | None,
    formats: str,
    pdf: bool,
    **asked: Any,
) -> None:
    """Put protocols into the scenarios of all studies, and compare them with all others.

    A PROTOCOL is a folder with protocol.yaml and law.cc (or tcp_*.c), one of config/protocols, or
    STUDY:PROTOCOL. In each study it takes the place of one of the study's, and all else stays as it
    was. The others' values are those that are published, so that only its own runs are simulated;
    called again, the same command resumes.
    """
    from bdpbench.app.evaluate.evaluating import EvaluateRequest, evaluate
    from bdpbench.app.evaluate.report import WantedFiles

    files = WantedFiles(against, export, formats, pdf)
    evaluate(EvaluateRequest(protocols, files=files, **asked))


@click.command("list")
@study_argument
@tier_option
@selection_options
@click.option("--runs", "show_runs", is_flag=True, help="Show every run with its id.")
def list_command(
    study: str | None,
    tier: str | None,
    scenarios: Words,
    protocols: Words,
    show_runs: bool,
) -> None:
    """List studies, their scenarios and runs, and their expected CPU time."""
    from bdpbench.app.listing import list_runs, list_scenarios, list_studies
    from bdpbench.studies.plan import Selection

    selection = Selection(scenarios, protocols)
    if study is None:
        list_studies()
    elif show_runs:
        list_runs(study, tier, selection)
    else:
        list_scenarios(study, selection)


@click.group("new")
def new_command() -> None:
    """Write a study, a metric, a protocol or a queue to begin with, which runs as it is."""


@new_command.command("study")
@click.argument("folder", metavar="NAME", type=PATH)
def study(folder: Path) -> None:
    """Write NAME/study.yaml: two protocols, one path, three buffers."""
    from bdpbench.app.beginning import begin_study

    click.echo(f"{begin_study(folder)}: edit it; `./bdpbench run {folder}` simulates it")


@new_command.command("metric")
@click.argument("name")
@click.argument("study")
def metric(name: str, study: str) -> None:
    """Begin metrics.py of STUDY, a folder or a key, which has none yet, with the metric NAME."""
    from bdpbench.app.beginning import begin_metric

    click.echo(f"{begin_metric(name, study)}: edit it; `./bdpbench run {study}` measures it")


@new_command.command("protocol")
@click.argument("folder", metavar="NAME", type=PATH)
def protocol(folder: Path) -> None:
    """Write NAME/: AIMD with two parameters, as a protocol that studies can name."""
    from bdpbench.app.beginning import begin_protocol, key_of

    made = begin_protocol(folder)
    click.echo(
        f"{made}: edit law.cc; `./bdpbench evaluate {made} --quick` puts it beside all others,\n"
        f"and a study uses it with protocols: {{{key_of(made)}: {{folder: {_quoted(made)}}}}}"
    )


@new_command.command("queue")
@click.argument("folder", metavar="NAME", type=PATH)
def queue(folder: Path) -> None:
    """Write NAME/: drop-tail that marks from a threshold on, and a study that uses it."""
    from bdpbench.app.beginning import begin_queue, key_of

    made = begin_queue(folder)
    click.echo(
        f"{made}: edit discipline.cc; `./bdpbench run {made}` puts it beside drop-tail and CoDel,\n"
        f"and any study uses it with queues: {{{key_of(made)}: {{folder: {_quoted(made)}}}}}"
    )


def _quoted(folder: Path) -> str:
    """A folder as YAML that any study can have, wherever that is."""
    return json.dumps(str(folder.resolve()), ensure_ascii=False)


@click.command("check")
@study_argument
@tier_option
@kept_engine_option
def check_command(study: str | None, tier: str | None, engine: str | None) -> None:
    """Fail unless everything of STUDY that was run is reproduced, except known misses."""
    from bdpbench.app.validate import check_scorecard

    check_scorecard(study, tier, engine)
