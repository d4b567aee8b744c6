"""From a plan to runs on disk: what to run, where, in which order, and imports of foreign logs."""
