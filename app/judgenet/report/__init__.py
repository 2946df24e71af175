"""Reports of runs: made from the store, written as HTML, PDF, Markdown, LaTeX, CSV and JSON."""
