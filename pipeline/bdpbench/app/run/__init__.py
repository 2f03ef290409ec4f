"""From a study's name to a finished report: planning, the workflow's stages, and their order."""
