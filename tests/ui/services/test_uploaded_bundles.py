"""Exported bundles that come back to be measured."""

import json

import pytest

from tests.ui.services import small_workspace as tools_of
from tests.ui.services.small_workspace import Functions
from toolscope_core.export.bundle import zipped
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.errors import ConfigError, ExportError
from toolscope_core.store.experiment_rows import get_experiment
from ui.evaluation import evaluations, measured_sides
from ui.evaluation.experiment_requests import ExperimentRequest
from ui.shared.services import exports

pytestmark = pytest.mark.usefixtures("counts_folder")


def exported(work, catalog_id, accept="all"):
    return exports.download(work.snapshot(catalog_id), PlanConfig(accept=accept)).archive


def test_an_exported_zip_is_a_toolset_and_measured_as_the_plan_is(work, catalog_id):
    sides = Functions(work, measured_sides)
    side = sides.add_bundle(catalog_id, exported(work, catalog_id), "My bundle (1).zip")
    assert side.startswith("bundle My-bundle-1-")
    assert side in sides.names(catalog_id)
    content = exported(work, catalog_id)
    assert sides.add_bundle(catalog_id, content, "My bundle (1).zip") == side
    results = [
        get_experiment(
            work.store, evaluations.run(work.snapshot(catalog_id), ExperimentRequest(after=after))
        ).result
        for after in (side, "all proposals")
    ]
    assert results[0]["after"]["name"] == side
    assert results[0]["after"]["tools"] == results[1]["after"]["tools"] < 8
    assert results[0]["after"]["metrics"] == results[1]["after"]["metrics"]
    assert results[0]["merges"] == [], "what it was made of is not known"
    with pytest.raises(ConfigError, match="'bundle gone'"):
        evaluations.run(work.snapshot(catalog_id), ExperimentRequest(after="bundle gone"))


def test_bundles_of_an_earlier_day_are_found_where_they_were(work, catalog_id, counts_folder):
    kept = counts_folder.parent / "bundles" / "9afc4b5617b7e219" / "kept"
    kept.mkdir(parents=True)
    assert "bundle kept" in Functions(work, measured_sides).names(catalog_id)


def test_bundles_are_those_of_their_catalog(work, catalog_id):
    other = work.catalogs.add("Other", tools_of.catalog(tools_of.MAIL, tools_of.SUM))
    work.analyses.run(other.id)
    sides = Functions(work, measured_sides)
    side = sides.add_bundle(catalog_id, exported(work, catalog_id), "b.zip")
    assert side not in sides.names(other.id)


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (None, "cannot be read as a zip"),
        ({"x.json": b"{}"}, "has no relabel.json"),
        ({"relabel.json": b"{"}, "is not JSON"),
    ],
)
def test_anything_else_is_refused_and_leaves_nothing(work, catalog_id, files, reason):
    content = b"PK no zip" if files is None else zipped(files)
    sides = Functions(work, measured_sides)
    with pytest.raises((ConfigError, ExportError), match=reason):
        sides.add_bundle(catalog_id, content, "b.zip")
    assert not [one for one in sides.names(catalog_id) if one.startswith("bundle")]


def test_a_bundle_of_other_tools_is_refused(work, catalog_id):
    files = dict(exports.bundle(work.snapshot(catalog_id), PlanConfig(accept="all")))
    relabel = json.loads(files["relabel.json"])
    relabel["entries"] = relabel["entries"][1:]
    files["relabel.json"] = json.dumps(relabel).encode()
    with pytest.raises(ConfigError, match="cover"):
        Functions(work, measured_sides).add_bundle(catalog_id, zipped(files), "b.zip")
