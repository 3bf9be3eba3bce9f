import csv
import io
import json

import plotly.graph_objects as go

from ui.shared.pictures import table_csv, table_json

ROWS = [{"one": "=1+1", "pairs": 3}, {"one": "@café\ud800,\n", "pairs": 0}]


def test_the_files_of_a_picture_hold_every_row_and_run_nothing():
    read = list(csv.reader(io.StringIO(table_csv(ROWS).decode())))
    assert read == [["one", "pairs"], ["'=1+1", "3"], ["'@café\\ud800,\n", "0"]]
    assert json.loads(table_json(ROWS))[0] == ROWS[0]
    assert table_csv([]).strip() == b""


def test_a_picture_taken_away_as_html_runs_nothing_of_the_catalog():
    hostile = "</script><script>alert(1)</script>"
    figure = go.Figure([go.Bar(x=[hostile], y=[1], text=[hostile], name=hostile)])
    assert hostile not in figure.to_html(include_plotlyjs=False)
