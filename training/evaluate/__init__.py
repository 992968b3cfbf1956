"""The study of the de-identifier: configurations against corpora, in one table, from answers kept on disk."""
