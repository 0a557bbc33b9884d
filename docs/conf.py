"""How Sphinx builds these pages: every cell is run, and a warning is an error (`make docs`)."""

import os
import sys
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
# What commands print is text on a page; the kernel that runs them says that they write to a terminal.
os.environ |= {
    "COLUMNS": "100",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "TTY_COMPATIBLE": "0",
    "TTY_INTERACTIVE": "0",
}

project = "icarus"
author = "The icarus authors"
try:
    release = metadata.version("icarus-mcts")
except metadata.PackageNotFoundError:  # the sources used in place, not installed
    release = ""
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["_build"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_render_markdown_format = "myst"  # with tables
nb_execution_raise_on_error = True
nb_execution_timeout = 600  # seconds of a cell; a first search compiles the engine
nb_merge_streams = True

default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
SECTIONS = (
    "Required",
    "Optional",
    "Rules",
    "Hidden information",
    "Features and heuristic",
    "Names and parameters",
    "Audits and bridges",
)
napoleon_custom_sections = [(title, "params_style") for title in SECTIONS]
napoleon_use_ivar = True
napoleon_use_rtype = False

html_theme = "furo"
html_title = "icarus"
html_static_path = ["_static"]
html_css_files = ["page.css"]
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
