"""ns-2.35 at work: where it runs, one run of it on record, its own validation suite."""
