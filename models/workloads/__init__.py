"""The workloads, one file each; the registry finds them by their file names."""
