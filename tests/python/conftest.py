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
