"""Batches on a cluster: the profile, the plugin, the jobs in the queue, and when to give up."""
