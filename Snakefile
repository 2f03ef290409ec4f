"""The workflow, for `snakemake` called in the checkout; its rules are in workflow/."""


include: "workflow/Snakefile"


localrules:
    default,


rule default:
    default_target: True
    input:
        rules.all.input,
