"""How soon the next card stands on Review after a key, with Seal-Tools (4,076 tools).

In Chromium, on a warm server: from the key until another cluster is in the address and the run that
draws its card has ended. *J* shows the next cluster, *A* accepts, *X* keeps apart, *S* skips.

    python -m benchmarks.next_card [--presses 15]
"""

import time

import numpy as np

from benchmarks.browser import analyse_named, chromium, serving, temporary_settings, wait_for_end
from benchmarks.measuring import parser_of, print_machine, print_reference

LIMIT = 0.3
KEYS = {"J": "the next cluster", "A": "accept", "X": "keep apart", "S": "skip"}
ANOTHER_CARD = """url => location.href !== url
    && document.querySelector('[data-testid="stApp"]').dataset.testScriptState === 'notRunning'"""


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--presses", type=int, default=15)
    presses = parser.parse_args().presses
    print_machine(f"{presses} presses of each key")
    print_reference()
    with temporary_settings() as settings, chromium() as browser:
        analyse_named(settings, "seal-tools")
        with serving(settings) as address:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(f"{address}/review?catalog=Whole")
            wait_for_end(page)
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
    print(f"limit: {LIMIT} s")


if __name__ == "__main__":
    main()
