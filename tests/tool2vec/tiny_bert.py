"""A transformer of a few kilobytes, made here and saved as a sentence-transformers model."""

VOCABULARY = "[PAD] [UNK] [CLS] [SEP] [MASK] open close the file door get weather".split()


def save_tiny_bert(folder):
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast
    from transformers.utils import logging

    logging.disable_progress_bar()
    plain = folder / "bert"
    plain.mkdir()
    (plain / "vocab.txt").write_text("\n".join(VOCABULARY), "utf-8")
    BertTokenizerFast(vocab=str(plain / "vocab.txt")).save_pretrained(plain)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=16,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=128,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        BertModel(config).save_pretrained(plain)
    word = Transformer(str(plain), max_seq_length=64)
    model = SentenceTransformer(modules=[word, Pooling(16)], device="cpu")
    model.save(str(folder / "tiny"), create_model_card=False)
    return folder / "tiny"
