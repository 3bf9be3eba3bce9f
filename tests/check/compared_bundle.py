"""A catalog of five tools, its bundle with two decisions, and a catalog that came after it."""

import json
from dataclasses import replace

from tests.support.analyses import analysed
from tests.ui.services.small_workspace import FILES, MAIL, SUM, WEATHER, catalog, on
from toolscope_core.decisions.log import admit
from toolscope_core.export.bundle import bundle_of
from toolscope_core.files.folders import write_folder
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.decision import Decision

OTHER_MAIL = on("beta", MAIL)
OTHER_WEATHER = on("beta", WEATHER)
BEFORE = catalog(MAIL, OTHER_MAIL, WEATHER, OTHER_WEATHER, SUM)
WORDS = {"threshold": 0.4}


def decided(action, *tools, **detail):
    prints, ids = tuple(t.fingerprint for t in tools), tuple(t.id for t in tools)
    return Decision(action, prints, ids, "Ada", "2026-01-02T03:04:05+00:00", detail=detail)


def log_of(*decisions):
    log = ()
    for one in decisions:
        log = (*log, admit(log, one))
    return log


KEPT = {"relation": "duplicate", "canonical": MAIL.fingerprint, "kind": "drop_in"}
ACCEPTED = decided("accept", MAIL, OTHER_MAIL, **KEPT)
REJECTED = decided("keep_apart", WEATHER, OTHER_WEATHER)


def write_bundle(folder, tmp_path, *decisions, before=BEFORE):
    analysis, log = analysed(before, tmp_path, **WORDS), log_of(*decisions)
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
