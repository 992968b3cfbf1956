"""Spans: de-identifiers and PII detectors, scored so that no artefact of counting can flatter them."""
