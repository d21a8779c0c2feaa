"""The blocks of the page "From Python" run as they are written, in the order of the page; the notebooks run as well."""

import os
import pathlib
import re

import pytest

CHECKOUT = pathlib.Path(os.environ["HEED_CHECKOUT"])
PAGE = CHECKOUT / "docs" / "how-to" / "from-python.md"
NOTEBOOKS = sorted((CHECKOUT / "docs" / "notebooks").glob("*.ipynb"))


def test_blocks_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5
    names = {}
    for number, block in enumerate(blocks, 1):
        if "torch" in block:
            pytest.importorskip("torch")
        exec(compile(block, f"{PAGE.name}, block {number}", "exec"), names)
    assert (tmp_path / "differences.pdf").stat().st_size > 1000


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_notebooks_run(file, tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(file, 4)
    if any("torch" in cell.source for cell in notebook.cells if cell.cell_type == "code"):
        pytest.importorskip("torch")
    nbclient.NotebookClient(notebook, timeout=1200, resources={"metadata": {"path": str(tmp_path)}}).execute()


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_notebooks_are_committed_with_results_and_without_the_page(file):
    text = file.read_text(encoding="utf-8")
    assert '"outputs": [\n' in text and "iframe" not in text
    assert str(CHECKOUT) not in text and "/tmp/" not in text
    assert file.stat().st_size < 400_000
