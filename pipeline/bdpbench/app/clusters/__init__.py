"""Batches on a cluster: the profile, the plugin, the jobs in the queue, when to stop waiting."""
