"""What is true: notation, formulas, derivations and exact decision procedures (SymPy)."""
