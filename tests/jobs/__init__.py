"""Tests of jobs: the queue, leases, hygiene, and the worker."""
