# Finished runs → metrics, verdicts and one HTML file that opens offline, in one process.
# Inputs: <study>/<tier>/plan.json, batches/<batch>.done (and runs/*/<run id>/).
# Outputs: <study>/<tier>/metrics.parquet, metrics.csv, scorecard.json, report.html.


rule report:
    input:
        plan=f"{FOLDER}/plan.json",
        batches=expand(f"{FOLDER}/batches/{{batch}}.done", batch=JOBS),
    output:
        metrics=f"{FOLDER}/metrics.parquet",
        csv=f"{FOLDER}/metrics.csv",
        scorecard=f"{FOLDER}/scorecard.json",
        report=f"{FOLDER}/report.html",
    log:
        f"{FOLDER}/report.log",
    params:
        cli=CLI,
        study=f"{ROOT}/{TIER['folder']}",
        tier=PLAN.parent.name,
    shell:
        "BDPBENCH_RESULTS=$PWD {params.cli:q} report {params.study:q} --tier {params.tier} > {log:q} 2>&1"
