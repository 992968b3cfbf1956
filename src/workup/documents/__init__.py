"""Documents with spans, labels and policies: the model that corpora, detectors, redaction and the scorer share."""
