# One run of ns-2. Both inputs are fixed by the run id, so their age says nothing.
# Inputs: runs/<run id>/spec.json, ns2/<build id>-<backend>.json. Outputs: runs/<run id>/run.json.

from pathlib import Path

COST_S = {run["run_id"]: run["estimated_cpu_s"] for run in PLAN["runs"]}


# A finished run needs no ns-2: another backend's marker would have it simulated again.
rule simulate:
    input:
        spec=ancient("runs/{run_id}/spec.json"),
        ns2=lambda wildcards: (
            []
            if Path("runs", wildcards.run_id, "run.json").exists()
            else ancient(NS2_MARKER)
        ),
    output:
        "runs/{run_id}/run.json",
    log:
        "runs/{run_id}/simulate.log",
    resources:
        runtime=lambda wildcards: 10 + int(COST_S[wildcards.run_id] / 20),
    params:
        cli=CLI,
        backend=BACKEND,
        run_dir=subpath(output[0], parent=True),
    shell:
        "{params.cli:q} simulate --backend {params.backend:q} {params.run_dir:q} > {log:q} 2>&1"
