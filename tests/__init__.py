"""The tests: run by pytest from the root of the checkout."""
