"""Charts as Vega-Lite specs, and their drawing as SVG."""
