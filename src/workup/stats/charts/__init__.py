"""Statistical process control: control charts, their baselines and run lengths."""
