"""The workloads' data: real where it is at hand, else a substitute that says so."""
