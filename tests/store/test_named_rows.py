from toolscope_core.store.named_rows import delete_query_file, keep_query_file, list_query_files


def files(store, catalog_id):
    return [(file.name, file.content) for file in list_query_files(store, catalog_id)]


def test_files_come_back_to_the_byte_and_a_new_one_takes_an_old_ones_place(store, save):
    one, other = save("one", "a"), save("other", "a")
    keep_query_file(store, one, "q.jsonl", b"\xff\x00 first")
    keep_query_file(store, one, "a \ud800.csv", b"")
    keep_query_file(store, one, "q.jsonl", b"second")
    assert files(store, one) == [("a \ud800.csv", b""), ("q.jsonl", b"second")]
    assert files(store, other) == []
    delete_query_file(store, one, "q.jsonl")
    delete_query_file(store, one, "q.jsonl")
    assert files(store, one) == [("a \ud800.csv", b"")]
