"""What must hold, by the number of its case, with its tests and what came of them.

python -m tests.cases [options of pytest]

Without options the tests of the night run too. The status is 1 where a test fails or a case has
none.
"""

import sys
from collections import Counter, defaultdict

import pytest

NUMBERS = sorted({*range(1, 98)} - {4, 9, 14, 19, 24, 25, 27, 34, 35, 38, 39, 40, 45, 47, 50, 51, 53, 54, 56})  # fmt: skip
"""Of the cases that there are."""


class Cases:
    """Runs the tests with a case, and counts how each ended."""

    def __init__(self):
        self.tests, self.outcomes = defaultdict(list), defaultdict(Counter)

    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if item.get_closest_marker("case")]
        for item in items:
            test = item.nodeid.partition("[")[0]
            for number in item.get_closest_marker("case").args:
                if test not in self.tests[number]:
                    self.tests[number].append(test)

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.nodeid.partition("[")[0]][report.outcome] += 1

    def lines(self):
        for number in NUMBERS:
            for test in self.tests[number] or ["no test"]:
                counts = self.outcomes[test].items()
                yield f"{number:>2}  {test}  {', '.join(f'{n} {how}' for how, n in counts)}"


if __name__ == "__main__":
    cases = Cases()
    status = pytest.main(["-m", "case", "--tb=line", "tests", *sys.argv[1:]], [cases])
    sys.stdout.write("\n".join(cases.lines()) + "\n")
    sys.exit(int(status) or int(any(not cases.tests[number] for number in NUMBERS)))
