"""Chat models over many turns: cases with a ledger of facts, transcripts, and what a reply says of each fact."""
