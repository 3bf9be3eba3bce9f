"""A catalog of five tools, its bundle with two decisions, and a catalog that came after it."""

import json
from dataclasses import replace

from tests.support.analyses import analysed
from tests.support.decisions import decision_on, logged
from tests.ui.services.small_workspace import FILES, MAIL, SUM, WEATHER, catalog, on
from toolscope_core.export.bundle import bundle_of
from toolscope_core.files.folders import write_folder
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.model.configuration import PlanConfig

OTHER_MAIL = on("beta", MAIL)
OTHER_WEATHER = on("beta", WEATHER)
BEFORE = catalog(MAIL, OTHER_MAIL, WEATHER, OTHER_WEATHER, SUM)
WORDS = {"threshold": 0.4}


KEPT = {"relation": "duplicate", "canonical": MAIL.fingerprint, "kind": "drop_in"}
ACCEPTED = decision_on((MAIL, OTHER_MAIL), "accept", **KEPT)
REJECTED = decision_on((WEATHER, OTHER_WEATHER), "keep_apart")


def write_bundle(folder, tmp_path, *decisions, before=BEFORE):
    analysis, log = analysed(before, tmp_path, **WORDS), logged(*decisions)
    config = PlanConfig(accept="none")
    files = bundle_of(analysis, plan_merge(analysis, log, config), log, config).files()
    write_folder(files, folder)
    return folder


def write_catalog(path, *tools):
    records = [
        {
            "server": tool.server,
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.schema),
        }
        for tool in tools
    ]
    path.write_text(json.dumps(records, indent=1), "utf-8")
    return path


def reworded(tool, description):
    return replace(tool, description=description)


__all__ = ["FILES", "MAIL", "OTHER_MAIL", "OTHER_WEATHER", "SUM", "WEATHER", "catalog", "on"]
