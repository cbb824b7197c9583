"""The words of differential privacy that every other package speaks.

Standard library only, no input or output.
"""
