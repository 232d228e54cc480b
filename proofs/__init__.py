"""Why to believe it: claims, evidence, verdicts, reports, tables and the command line."""
