"""Meta-analysis: one estimate per site, pooled, with the heterogeneity between sites."""
