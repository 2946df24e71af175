"""The parts of the pages Results and Report. Figures come from :mod:`judgenet.report`; nothing is computed here."""
