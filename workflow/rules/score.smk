# Metrics beside the published numbers and claims → verdicts.
# Inputs: plan.json (it covers published.csv and claims.yaml by checksum), metrics.parquet.
# Outputs: <study>/<tier>/scorecard.json.


rule score:
    input:
        plan=PLAN_FILE,
        metrics=f"{FOLDER}/metrics.parquet",
    output:
        f"{FOLDER}/scorecard.json",
    log:
        f"{FOLDER}/score.log",
    params:
        cli=CLI,
    shell:
        "{params.cli:q} score {input.plan:q} --metrics {input.metrics:q} -o {output:q} > {log:q} 2>&1"
