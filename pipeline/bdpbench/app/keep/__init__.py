"""Results that are kept: published, archived, exported, compared."""
