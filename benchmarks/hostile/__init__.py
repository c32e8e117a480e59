"""Attacks that got through once, kept as campaigns; each has a seeded short form in the tests."""
