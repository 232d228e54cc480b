"""The claims, one module for each theorem of the source, with their checkers."""
