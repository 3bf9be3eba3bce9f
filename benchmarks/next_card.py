"""How soon the next card stands on Review after a key, with Seal-Tools (4,076 tools).

In Chromium, on a warm server: from the key until another cluster is in the address and the run that
draws its card has ended. *J* shows the next cluster, *A* accepts, *X* keeps apart, *S* skips.

    python -m benchmarks.next_card [--presses 15]
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.explore_speed import reference, serving
from benchmarks.first_visits import ENDED, FLAGS, prepared

LIMIT = 0.3
KEYS = {"J": "the next cluster", "A": "accept", "X": "keep apart", "S": "skip"}
CATALOG = "seal-tools"
ANOTHER_CARD = """url => location.href !== url
    && document.querySelector('[data-testid="stApp"]').dataset.testScriptState === 'notRunning'"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--presses", type=int, default=15)
    presses = parser.parse_args().presses
    from playwright.sync_api import sync_playwright

    print(f"machine: {os.cpu_count()} cores, {platform.machine()}, {presses} presses of each key")
    reference()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        settings = prepared(Path(folder), CATALOG)
        with serving(settings) as address:
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(f"{address}/review?catalog=Whole")
            page.locator(ENDED).wait_for(timeout=120_000)
            page.locator("h1").first.click()
            for key, action in KEYS.items():
                seconds = []
                for _ in range(presses):
                    page.wait_for_timeout(700)  # a person looks at the card
                    before, start = page.url, time.perf_counter()
                    page.keyboard.press(key.lower())
                    page.wait_for_function(ANOTHER_CARD, arg=before, timeout=30_000)
                    seconds.append(time.perf_counter() - start)
                middle, high = np.percentile(seconds, (50, 95))
                print(f"{key} {action:<18} median {middle:.3f} s   p95 {high:.3f} s", flush=True)
            browser.close()
    print(f"limit: {LIMIT} s")


if __name__ == "__main__":
    main()
