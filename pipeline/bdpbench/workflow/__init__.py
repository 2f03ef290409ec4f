"""The stages joined together: what a Snakemake rule or a command of the CLI sets going."""
