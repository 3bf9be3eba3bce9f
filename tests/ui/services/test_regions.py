import numpy as np

from tests.ui.services.small_workspace import tool
from ui.overlap.map_charts import frame_of
from ui.overlap.maps import HIGH, WIDE, _overlap, _wide, regions


def crowd(word, count, at, rng):
    """Tools of one word, which a third of them say is slow, all at one place."""
    ends = (" It is slow." if i % 3 == 0 else "" for i in range(count))
    texts = [f"Get the {word} of a thing.{end}" for end in ends]
    tools = [tool("s", f"get_{word}_{i}", text) for i, text in enumerate(texts)]
    return tools, rng.normal(at, 0.05, size=(count, 2))


def many(words, across=4):
    rng = np.random.default_rng(0)
    made = [crowd(word, 30, (i % across, i // across), rng) for i, word in enumerate(words)]
    return [t for tools, _ in made for t in tools], np.concatenate([points for _, points in made])


def test_each_crowded_place_says_what_only_its_tools_say():
    tools, points = many(["weather", "invoice", "music", "train"])
    found = regions(tools, points)
    assert {region.words[0] for region in found} == {"weather", "invoice", "music", "train"}
    for region in found:
        assert "get" not in region.words
        assert "the" not in region.words
        near = np.linalg.norm(points - (region.x, region.y), axis=1).argmin()
        assert region.words[0] in tools[near].name


def test_labels_never_overlap_and_are_the_same_each_time():
    tools, points = many([f"{a}{b}longword" for a in "abcdefgh" for b in "xyz"], across=12)
    found = regions(tools, points)
    assert len(found) > 3
    frame = frame_of(points)
    pixels = np.array([WIDE, HIGH]) / (frame[:, 1] - frame[:, 0])
    boxes = [
        (*((np.array(one.label) - frame[:, 0]) * pixels).tolist(), _wide(one.words))
        for one in found
    ]
    for at, one in enumerate(boxes):
        assert not any(_overlap(one, other) for other in boxes[:at])
        assert one[2] / 2 <= one[0] <= WIDE - one[2] / 2, "cut at the edge"
    assert regions(tools, points) == found


def test_words_have_letters_only_whatever_the_tools_say():
    evil = "<img src=x onerror=alert(1)> $x^2$ http://evil.test"
    tools = [tool("s", f"<b>{i}</b>", f"{evil} {i}") for i in range(9)]
    tools += [tool("s", f"plain_{i}", "Nothing special here.") for i in range(9)]
    points = np.array([[0.0, 0.0]] * 9 + [[1.0, 1.0]] * 9)
    found = regions(tools, points)
    assert len(found) == 2
    assert all(word.isalpha() for region in found for word in region.words)


def test_few_or_alike_tools_have_no_words():
    same = [tool("s", "get_mail", "Get mail.")] * 20
    assert regions(same, np.zeros((20, 2))) == regions([], np.zeros((0, 2))) == ()
