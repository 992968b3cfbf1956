"""Text with typos and scanning errors, read through them."""
