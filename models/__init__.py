"""Workloads, their data, and the trainer that writes a run: all that goes into a container."""
