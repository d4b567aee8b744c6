"""Charts by matplotlib, as SVG: text as text, light and dark, the same bytes for the same data."""
