"""Rules and tagger as one answer: each find is given the chance, fitted on text, that it identifies somebody."""
