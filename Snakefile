"""bdpbench: build ns-2, simulate batches of runs, report.

`./bdpbench run` plans first, calls this workflow for the batches, and reports. Called directly, as by
`snakemake --cores 2`, Snakemake plans what config/config.yaml names, and its last rule reports. The
rules use only the command line of bdpbench.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

from snakemake.utils import min_version

min_version("9.0")


include: "workflow/rules/common.smk"
include: "workflow/rules/build_ns2.smk"
include: "workflow/rules/simulate.smk"
include: "workflow/rules/report.smk"


localrules:
    all,
    batches,


rule all:
    default_target: True
    input:
        rules.report.output,


# The target of `bdpbench run`, which reports itself.
rule batches:
    input:
        rules.report.input.batches,
