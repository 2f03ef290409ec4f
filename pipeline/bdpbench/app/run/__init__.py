"""From a study's name to a finished report: planning, the stages, and their order."""
