"""bdpbench: build ns-2, simulate, parse, measure, score, report.

`./bdpbench run` plans first and calls this workflow with the plan; called by itself, Snakemake
plans what config/config.yaml names. The rules know only the command line of bdpbench.
"""

import json
import subprocess
import sys

from snakemake.utils import min_version

min_version("9.0")


configfile: f"{workflow.basedir}/config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/build_ns2.smk"
include: "workflow/rules/simulate.smk"
include: "workflow/rules/parse.smk"
include: "workflow/rules/measure.smk"
include: "workflow/rules/score.smk"
include: "workflow/rules/report.smk"


localrules:
    all,


rule all:
    default_target: True
    input:
        f"{FOLDER}/metrics.parquet",
        f"{FOLDER}/scorecard.json",
        f"{FOLDER}/report.html",
