# Metrics beside the published numbers and claims → verdicts.
# Inputs: plan.json, metrics.parquet, the study's published.csv and claims.yaml.
# Outputs: <study>/<tier>/scorecard.json.

STUDY_FILES = [
    path
    for path in (
        f"{workflow.basedir}/config/studies/{PLAN['study']}/published.csv",
        f"{workflow.basedir}/config/studies/{PLAN['study']}/claims.yaml",
    )
    if os.path.exists(path)
]


rule score:
    input:
        plan=PLAN_FILE,
        metrics=f"{FOLDER}/metrics.parquet",
        study=STUDY_FILES,
    output:
        f"{FOLDER}/scorecard.json",
    log:
        f"{FOLDER}/score.log",
    params:
        cli=CLI,
    shell:
        "{params.cli:q} score {input.plan:q} --metrics {input.metrics:q} -o {output:q} > {log:q} 2>&1"
