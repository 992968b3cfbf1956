"""Chat models over many turns: cases with a ledger of facts, recorded transcripts, and what a reply says of each fact."""
