"""The cells of the tutorials run from any folder, with fewer games and iterations."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import environment
from tests.marks import slow_after

pytest.importorskip("IPython")
DOCS = Path(__file__).parent.parent / "docs"
FEWER = {
    "--games 100": "--games 1",
    "--games 30": "--games 1",
    "--games 5": "--games 1",
    "--iterations 500": "--iterations 5",
}
RUN = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in open(sys.argv[1], encoding="utf-8").read().split(chr(0)):
    done = shell.run_cell(cell)
    done.raise_error()
    assert shell.user_ns.get("_exit_code", 0) == 0, cell
"""


@pytest.mark.parametrize("page", slow_after(1, ["tutorial-enhancement", "tutorial-game"]))
def test_the_cells_of_a_tutorial_run_from_any_folder(page: str, tmp_path: Path) -> None:
    cells = re.findall(r"```\{code-cell\}\n(?::.*\n)*(.*?)```", (DOCS / f"{page}.md").read_text(), re.DOTALL)
    assert len(cells) > 6
    text = "\0".join(cells)
    for full, short in FEWER.items():
        text = text.replace(full, short)
    (tmp_path / "cells.txt").write_text(text, encoding="utf-8")
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    changed = environment(PATH=path, IPYTHONDIR=str(tmp_path / "ipython"))
    call = [sys.executable, "-c", RUN, str(tmp_path / "cells.txt")]
    done = subprocess.run(call, cwd=folder, env=changed, text=True, capture_output=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
