"""`python -m workup.cli`."""

from workup.cli import main

main()
