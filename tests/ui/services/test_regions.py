import numpy as np

from tests.ui.services.small_workspace import tool
from ui.overlap.map_charts import frame_of
from ui.overlap.maps import HIGH, WIDE, _overlap, _wide, fanned, regions


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


def test_a_name_is_a_thing_and_never_what_tools_do_or_how_they_are():
    texts = ["List the specific {0}s of multiple users.", "Search all available {0}s."]
    tools = [
        tool("s", f"{('list', 'search')[i % 2]}_specific_{noun}s_{i}", texts[i % 2].format(noun))
        for noun in ("invoice", "train")
        for i in range(12)
    ]
    points = np.array([[0.0, 0.0]] * 12 + [[1.0, 1.0]] * 12)
    assert [region.words for region in regions(tools, points)] == [("invoice",), ("train",)]
    tools = [tool("s", ("list", "search")[i % 2], "Does it.") for i in range(24)]
    assert regions(tools, points) == (), "rather none than what all tools do"


def test_dots_at_one_place_are_fanned_out_and_the_others_stay():
    rng = np.random.default_rng(0)
    points = np.concatenate([np.repeat([[0.5, 0.5]], 30, axis=0), rng.uniform(size=(200, 2))])
    moved = fanned(points)
    span = frame_of(points)[:, 1] - frame_of(points)[:, 0]
    pixels = moved[:30] / span * [WIDE, HIGH]
    away = np.linalg.norm(pixels[:, None] - pixels[None], axis=2)
    np.fill_diagonal(away, np.inf)
    assert away.min() > 6, "a dot is six pixels wide"
    assert np.linalg.norm(pixels - pixels[0], axis=1).max() < 45
    assert np.array_equal(moved[0], points[0])
    lone = np.random.default_rng(1).permutation(10)[:, None] * [0.1, 0.0]
    assert np.array_equal(fanned(lone), lone)


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
    tools += [tool("s", f"{'abcdefghi'[i]}_invoice", "Nothing special here.") for i in range(9)]
    points = np.array([[0.0, 0.0]] * 9 + [[1.0, 1.0]] * 9)
    found = regions(tools, points)
    assert ("invoice",) in [region.words for region in found], "*special* is no thing of a name"
    assert all(word.isalpha() for region in found for word in region.words)


def test_few_or_alike_tools_have_no_words():
    same = [tool("s", "get_mail", "Get mail.")] * 20
    assert regions(same, np.zeros((20, 2))) == regions([], np.zeros((0, 2))) == ()
