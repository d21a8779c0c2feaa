"""The run folders that several tests read."""

import shutil

import pytest


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("läufe und runs")
    import run_folders

    run_folders.make_runs(folder)
    return folder


@pytest.fixture
def out(place):
    return place / "runs"


@pytest.fixture
def copied(out, tmp_path):
    """A folder with the run of one ID, to be damaged."""
    from run_folders import ids_of

    id = ids_of(out, "copies")[0]
    shutil.copytree(out / id, tmp_path / "runs" / id)
    return tmp_path / "runs" / id


@pytest.fixture(scope="session")
def long_run(tmp_path_factory):
    """The folder of a run whose evaluation takes minutes."""
    import run_folders

    folder = tmp_path_factory.mktemp("long")
    (folder / "long.toml").write_text(run_folders.LONG)
    run_folders.heed("run", "long.toml", "--out", "runs", cwd=folder)
    return folder / "runs" / run_folders.ids_of(folder / "runs", "long")[0]
