"""What the user can do, in words: the texts, keys, icons and menus of all actions, by page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Menu = Literal["", "Project", "Recent projects", "Edit", "Network", "Run", "View", "Help"]
"""Where an action stands; ``""`` keeps it to the palette and to buttons. "Recent projects" is part of "Project"."""


@dataclass(frozen=True, slots=True)
class ActionText:
    """How an action is shown: ``text`` in sentence case, with ``…`` where more is asked; ``key`` holds shortcuts in
    Qt's portable form, several apart by ``"; "``; ``words`` are further words by which the palette finds it."""

    text: str
    key: str = ""
    icon: str = ""
    menu: Menu = ""
    words: str = ""


ACTION_TEXTS: Final[dict[str, ActionText]] = {
    # Whatever page is in view
    "project.new": ActionText("New project…", "Ctrl+N", "new", "Project"),
    "project.open": ActionText("Open project…", "Ctrl+O", "open", "Project"),
    "project.back": ActionText("Back to the project", "", "chevron-left", "Project", "welcome return"),
    "data.import": ActionText("Choose a file of pairs…", "Ctrl+I", "import", "Project", "import data load csv jsonl"),
    "judgments.import": ActionText(
        "Import judgments…", "", "import", "Project", "recorded elsewhere mt-bench alpacaeval pandalm run open"
    ),
    "network.import": ActionText("Import network…", "", "import", "Project", "graph graphml node-link json open"),
    "network.export": ActionText(
        "Export network…", "", "export", "Project", "graph graphml node-link json dot graphviz save"
    ),
    "project.save": ActionText("Save", "Ctrl+S", "save", "Project"),
    "project.save_as": ActionText("Save as…", "Ctrl+Shift+S", "save", "Project"),
    "project.rename": ActionText("Rename the project…", "", "edit", "Project"),
    "project.close": ActionText("Close the project", "Ctrl+W", "close", "Project"),
    "app.quit": ActionText("Quit", "Ctrl+Q", "quit", "Project", "exit"),
    "edit.undo": ActionText("Undo", "Ctrl+Z", "undo", "Edit"),
    "edit.redo": ActionText("Redo", "Ctrl+Shift+Z; Ctrl+Y", "redo", "Edit"),
    "run.start": ActionText("Run", "F5; Ctrl+R", "run", "Run", "start go"),
    "run.anew": ActionText(
        "Judge the recorded pairs with a network", "", "design", "", "import recorded judgments model run"
    ),
    "models.try": ActionText("Test the models…", "", "model", "Run", "preflight pre-flight check test"),
    "experiments.open": ActionText(
        "Experiments…", "Ctrl+Shift+E", "grid", "Run", "baselines sweep width depth main table paper word clouds saving"
    ),
    "run.limits": ActionText(
        "Limits of a run…", "", "price", "Run", "budget money most calls tokens price cost unknown"
    ),
    "run.name": ActionText("Name this run…", "", "edit", "Run", "rename note annotate comment title"),
    "results.compare": ActionText("Compare with another run…", "", "columns", "Run", "difference beside two runs"),
    "run.pause": ActionText("Pause or resume", "Ctrl+P", "pause", "Run"),
    "run.stop": ActionText("Stop", "Shift+F5", "stop", "Run"),
    "palette.open": ActionText("Find or do…", "Ctrl+K; Ctrl+Shift+P", "search", "View"),
    "page.settings": ActionText("Settings", "Ctrl+,", "settings", "View"),
    "endpoints.show": ActionText("Endpoints and keys", "", "endpoint", "View", "check test model api key"),
    "view.larger": ActionText("Zoom in", "Ctrl+Alt++; Ctrl+Alt+=", "plus", "View"),
    "view.smaller": ActionText("Zoom out", "Ctrl+Alt+-", "minus", "View"),
    "view.next": ActionText("Focus next panel", "F6", "", "View"),
    "view.previous": ActionText("Focus previous panel", "Shift+F6", "", "View"),
    "view.copy_picture": ActionText(
        "Copy picture of the page", "Ctrl+Shift+C", "copy", "Edit", "screenshot image clipboard png"
    ),
    "help.tour": ActionText("Two-minute tour", "F1", "help", "Help"),
    "help.examples": ActionText("Run the example", "", "run", "Help"),
    "help.keys": ActionText("Keyboard shortcuts", "Ctrl+F1", "keyboard", "Help", "keys sheet hotkeys"),
    "help.about": ActionText("About JudgeNet Studio", "", "info", "Help", "version licence license log file"),
    # Page Design
    "neuron.add": ActionText("Add a neuron", "Ins", "plus", "Network"),
    "neuron.duplicate": ActionText("Duplicate", "Ctrl+D", "duplicate", "Network"),
    "neuron.remove": ActionText("Remove", "", "trash", "Network", "delete"),
    "neuron.cut": ActionText("Cut neurons", "Ctrl+X", "cut", "Edit"),
    "neuron.copy": ActionText("Copy neurons", "Ctrl+C", "copy", "Edit"),
    "neuron.paste": ActionText("Paste neurons", "Ctrl+V", "paste", "Edit"),
    "neuron.select_all": ActionText("Select all neurons", "Ctrl+A", "", "Edit"),
    "layer.add": ActionText("Add a layer", "Ctrl+L", "layer", "Network", "deeper"),
    "layer.remove": ActionText("Remove the layer", "Ctrl+Shift+L", "", "Network"),
    "chair.toggle": ActionText("Chair", "", "chair", "Network"),
    "network.stop_rules": ActionText(
        "Stop rules…", menu="Network", words="cascade early ask only where it matters gate orders agree"
    ),
    "network.problem": ActionText("Next problem", "F8", "warning", "Network"),
    "templates.edit": ActionText("Templates of the prompts", "Ctrl+T", "edit", "Network", "prompt edit"),
    "canvas.search": ActionText("Find a neuron…", "Ctrl+F", "search", "Network"),
    "canvas.copy": ActionText("Copy picture of the network", "", "copy", "Network", "image clipboard png canvas"),
    "canvas.save": ActionText("Save picture of the network…", "", "export", "Network", "svg png export canvas"),
    "design.tree": ActionText("Network as a tree", "Ctrl+Shift+T", "columns", "View", "list outline"),
    "design.inspector": ActionText("Inspector", "F4", "inspector", "View"),
    "canvas.fit": ActionText("Fit the network", "", "fit", "View", "zoom"),
    # Page Data
    "data.import_folder": ActionText("Choose a folder of pairs…", "", "open", "", "import data load faireval"),
    "data.example": ActionText("Use the example pairs", "", "data"),
    "data.mapping": ActionText("Change columns and labels…", "", "edit", "", "mapping coding import"),
    "labels.review": ActionText(
        "Review the listed pairs at the label desk (does not count)", "", "labels", "", "targeted label annotate"
    ),
    "data.reload": ActionText("Read the pairs again", "", "retry"),
    "data.find": ActionText("Search the pairs", "Ctrl+Shift+F", "search", "", "filter find"),
    "data.leave_out": ActionText("Leave out", "Delete", "minus", "", "exclude pairs remove skip"),
    "data.take_in": ActionText("Include again", "", "plus", "", "include pairs"),
    "data.edit_label": ActionText("Edit label…", "Shift+F2", "labels", "", "human label correct mend pair"),
    "data.edit_text": ActionText("Edit texts…", "F2", "edit", "", "typo correct question response pair"),
    "data.restore": ActionText("Restore the file's version", "", "undo", "", "original revert pair edits"),
    "data.copy_id": ActionText("Copy id", "", "copy", "", "clipboard pair"),
    "data.show_run": ActionText("Show in Run", "", "run", "", "pair judged calls"),
    "data.show_all": ActionText("Show all pairs", "", "filter"),
    "data.next": ActionText("Next pair", "Alt+Down", "chevron-down"),
    "data.previous": ActionText("Previous pair", "Alt+Up", "chevron-up"),
    # Page Labels
    "labels.export": ActionText("Export labels…", "", "export", "", "csv jsonl annotators save"),
    "labels.import": ActionText("Import labels…", "", "import", "", "csv jsonl annotators open"),
    "labels.settle": ActionText("Resolve disagreements", "", "labels"),
    # Page Run
    "run.retry_unscored": ActionText("Retry only the unscored", "", "retry", "Run", "again failed unanswered"),
    "run.start_fresh": ActionText("Run fresh pairs only", "", "run", "Run", "start new untouched pairs"),
    "run.previous_pair": ActionText("Previous pair", "Alt+Left; [", "chevron-left", "Run"),
    "run.next_pair": ActionText("Next pair", "Alt+Right; ]", "chevron-right", "Run"),
    "run.dock": ActionText("Show pairs and plots", "Ctrl+J", "dock", "View", "hide dock list grid chart"),
    "run.follow": ActionText("Follow the newest pair", "Alt+End", "follow", "Run", "pin live"),
    # Page Results
    "report.show": ActionText("Report", "", "report", "", "export save html pdf"),
    "run.export": ActionText(
        "Export the run…",
        "",
        "export",
        "Run",
        "save csv parquet preferences llm comparator argilla label studio explorer data set",
    ),
    "results.own_rules": ActionText("Count votes by the run's own rules", "", "vote"),
    # Page Bias
    "bias.run": ActionText("Run lab", "", "play", "Run", "bias probes"),
    "bias.stop": ActionText("Stop the lab", "", "stop", "", "bias"),
    "bias.people": ActionText("Ask people the lab's prompts", "", "labels", "", "bias probes label desk blind"),
    # Page Report
    "report.save": ActionText(
        "Save the report…", "Ctrl+E", "export", "", "export html pdf markdown latex csv json write"
    ),
}
"""By id: ``area.verb``."""
