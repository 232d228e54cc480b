"""What numbers say: certified, arbitrary-precision and float64 evaluation of the formulas."""
