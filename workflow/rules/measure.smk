# Values of every run → one table; metrics that take several runs are added.
# Inputs: plan.json, <study>/<tier>/parsed/<batch>.json (and runs/<run id>/values/).
# Outputs: <study>/<tier>/metrics.parquet, and metrics.csv beside it.


rule measure:
    input:
        plan=PLAN_FILE,
        parsed=expand(f"{FOLDER}/parsed/{{batch}}.json", batch=PLAN["batches"]),
    output:
        f"{FOLDER}/metrics.parquet",
    log:
        f"{FOLDER}/measure.log",
    params:
        cli=CLI,
    shell:
        "{params.cli:q} measure {input.plan:q} --runs runs -o {output:q} > {log:q} 2>&1"
