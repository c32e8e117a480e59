"""`python -m sally`."""

from sally.cli import main

main()
