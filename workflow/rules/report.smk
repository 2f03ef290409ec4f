# Everything → one HTML file that opens offline.
# Inputs: plan.json, metrics.parquet, scorecard.json (and the tables of the runs).
# Outputs: <study>/<tier>/report.html.


rule report:
    input:
        plan=PLAN_FILE,
        metrics=f"{FOLDER}/metrics.parquet",
        scorecard=f"{FOLDER}/scorecard.json",
    output:
        f"{FOLDER}/report.html",
    log:
        f"{FOLDER}/report.log",
    params:
        cli=CLI,
    shell:
        "{params.cli:q} report {input.plan:q} --runs runs --metrics {input.metrics:q}"
        " --scorecard {input.scorecard:q} -o {output:q} > {log:q} 2>&1"
