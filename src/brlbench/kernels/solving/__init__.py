"""Exact solutions of models that change, in compiled code."""
