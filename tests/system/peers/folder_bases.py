# SPDX-License-Identifier: BSD-3-Clause
"""Small folders of `transformers`, one for each kind of model, with weights drawn at random, and inputs for
them. Used by folder_changes.py, compare_folders.py and compare_scores.py; a new family of
framework/pretrained gets a folder here.
"""
import io
import json
import pathlib
import shutil

WORDS = ("the film is good bad lives in lund oslo mara took today a an of and covid drug met anna zoe uber strasse cafe naive resume "
         "über straße café naïve Ü Ö Mara Anna Lund Oslo ab cd abc e i 1 2 20 3 . , ! ? ; : ( ) [ ] < > / - _ ' \" # @ 中 国 人 日 本 "
         "中国 ё й ж и ς σ ß ﬁ ½ ² é è ñ ok 한 국 ا ب E9 mask MASK").split()
TEXTS = [
    "Mara took <drug> today", "[E9] Mara [/E9] lives in Oslo", "<drug>", "the<drug>film", "  <drug>  good", "covid Covid COVID covids",
    "Anna lives in [MASK] .", "[CLS] Anna [SEP]", "<s> Anna </s>", "<mask> Anna <mask>", "[PAD][UNK]", "<|endoftext|> Anna", "<pad> <unk>",
    "CAFÉ Café cafe\u0301 naïve", "Über Straße STRASSE ẞ", "İstanbul I ı İ", "ΣΑΣ σας ς", "中国人 日本", "日本ab中国cd", "한국 한국",
    "ﬁlm ½ ²", "zero\u200bwidth \u00adsoft", "no\u3000break here", "a\u00a0b\u2003c", "\u202eright to left", "combining e\u0301\u0323 a\u030a",
    "🙂 good 🙂🏽", "1,000.50 20% 3-4", "it's don't I'll we've", "...!!??", "(a)[b]<c>", "_under_score_", "C# @anna #covid",
    "x" * 120, "a b c d e f g h i j k l m n o p q r s t u v w x y z 1 2 3 4 5", " leading", "trailing ", "double  space   triple",
    "[e9] mara [/e9]", "[E9]Mara[/E9]", "Mara[E9]", "new york", "New York is good", "the new yorker", "ё й и\u0306 жЖ", "ا ب abc",
    "\u0410\u0301", "good bad good bad", "ab-cd_ab/cd", "E9 E9] [E9", "MASK [mask] [MASK]good", "lund oslo Lund Oslo LUND"]
# Further codes for a T5 and a MarianMT: gaps and codes of languages.
GAPS = ["Anna <extra_id_0> in Oslo", "<extra_id_1><extra_id_0> good", "<extra_id_3> Anna </s><extra_id_0>", "<extra_id_00> <extra_id_ 0>"]
CODES = [">>de<< Anna lives in Oslo", ">>fr<< the film", "Anna >>de<< good", ">> de << good", "</s>>>de<< good"]
MLM = [family + kind for family in ("bert", "distilbert", "roberta") for kind in ("_mlm", "_mlm_untied")]
FIRST = ("bert", *MLM, "bert_class", "bert_one", "bert_multi", "bert_tags", "distilbert", "roberta", "sentence", "gpt2", "bart")
LIMIT = 48
LONGER = 160  # of models that write: a prompt that is too long is refused here


def wordpieces():
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    characters = sorted({c for text in TEXTS + WORDS for c in text if not c.isspace() and c.isprintable()})
    for token in characters + WORDS + ["##" + c for c in characters] + ["##" + w for w in ("ab", "cd", "er", "s", "ing", "new", "york")]:
        if token not in tokens:
            tokens.append(token)
    return tokens


def spread(torch, model, seed):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            gain = parameter.dim() == 1 and name.endswith("weight")
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.25 + (1.0 if gain else 0.0))
    return model.eval()


class Bases:
    """One folder for each kind of model, with every file that newer versions write."""

    def __init__(self, torch, transformers, root):
        self.torch, self.transformers, self.root = torch, transformers, pathlib.Path(root)
        shape = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, max_position_embeddings=LIMIT)
        tokens = wordpieces()
        self.bert_shape = shape | dict(vocab_size=len(tokens), type_vocab_size=2)
        t = transformers
        self.wordpiece_folder("bert", tokens, t.BertModel(t.BertConfig(**self.bert_shape)))
        for name, tied in (("_mlm", True), ("_mlm_untied", False)):
            self.wordpiece_folder("bert" + name, tokens, t.BertForMaskedLM(t.BertConfig(**self.bert_shape, tie_word_embeddings=tied)))
            self.wordpiece_folder("distilbert" + name, tokens, t.DistilBertForMaskedLM(t.DistilBertConfig(
                dim=16, n_layers=2, n_heads=2, hidden_dim=24, vocab_size=len(tokens), max_position_embeddings=LIMIT, tie_word_embeddings=tied)))
            self.roberta_folder("roberta" + name, t.RobertaForMaskedLM, tied)
        self.wordpiece_folder("distilbert", tokens, t.DistilBertModel(t.DistilBertConfig(
            dim=16, n_layers=2, n_heads=2, hidden_dim=24, vocab_size=len(tokens), max_position_embeddings=LIMIT)))
        self.roberta_folder("roberta", t.RobertaModel, True)
        names = lambda *labels: dict(id2label=dict(enumerate(labels)), label2id={label: i for i, label in enumerate(labels)})
        self.wordpiece_folder("bert_class", tokens, t.BertForSequenceClassification(t.BertConfig(**self.bert_shape, **names("a", "b", "c"))))
        self.wordpiece_folder("bert_one", tokens, t.BertForSequenceClassification(t.BertConfig(**self.bert_shape, **names("a"))))
        self.wordpiece_folder("bert_multi", tokens, t.BertForSequenceClassification(t.BertConfig(
            **self.bert_shape, **names("a", "b", "c"), problem_type="multi_label_classification")))
        self.wordpiece_folder("bert_tags", tokens, t.BertForTokenClassification(t.BertConfig(
            **self.bert_shape, **names("O", "B-PER", "I-PER", "E-PER", "S-PER"))))
        self.sentence_folder()
        self.byte_folder("gpt2", t.GPT2Tokenizer, ["<|endoftext|>"], lambda size: t.GPT2LMHeadModel(t.GPT2Config(
            n_embd=16, n_layer=2, n_head=2, n_positions=LONGER, vocab_size=size, bos_token_id=0, eos_token_id=0)))
        self.byte_folder("bart", t.BartTokenizer, ["<s>", "<pad>", "</s>", "<unk>", "<mask>"], lambda size: t.BartForConditionalGeneration(
            t.BartConfig(d_model=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2,
                         encoder_ffn_dim=24, decoder_ffn_dim=24, max_position_embeddings=LONGER, vocab_size=size, forced_bos_token_id=0)))

        try:
            import sentencepiece
        except ImportError:
            return
        self.marian_folder(sentencepiece)
        for name, gated in (("t5", False), ("t5_gated", True)):
            self.t5_folder(sentencepiece, name, gated)
        shutil.copytree(self.root / "t5", self.root / "t5_file")
        self.transformers.AutoTokenizer.from_pretrained(self.root / "t5").save_pretrained(self.root / "t5_file")

    def names(self):
        return [name for name in (*FIRST, "marian", "t5", "t5_gated", "t5_file") if (self.root / name).exists()]

    def marian_folder(self, sentencepiece):
        place = self.root / "marian"
        place.mkdir()
        tokens = ["</s>", "<unk>"]  # and "<pad>" at the end, as the converted models have them
        for file, lines in (("source.spm", TEXTS + WORDS), ("target.spm", TEXTS[::2] + WORDS)):
            tokens += [token for token in spm(sentencepiece, lines, place / file, 300) if token not in ("<s>", *tokens)]
        tokens += [">>de<<", "<pad>"]
        write(place, "vocab.json", {token: number for number, token in enumerate(tokens)})
        files = (str(place / file) for file in ("source.spm", "target.spm", "vocab.json"))
        self.transformers.MarianTokenizer(*files).save_pretrained(place)
        padding = len(tokens) - 1
        model = self.transformers.MarianMTModel(self.transformers.MarianConfig(
            vocab_size=len(tokens), d_model=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2,
            encoder_ffn_dim=24, decoder_ffn_dim=24, max_position_embeddings=LONGER, pad_token_id=padding, eos_token_id=0,
            decoder_start_token_id=padding, forced_eos_token_id=0, scale_embedding=True, activation_function="swish",
            bad_words_ids=[[padding]]))
        spread(self.torch, model, 5)
        model.final_logits_bias.copy_(self.torch.randn(len(tokens), generator=self.torch.Generator().manual_seed(6)))
        model.save_pretrained(place)

    def t5_folder(self, sentencepiece, name, gated):
        place = self.root / name
        place.mkdir()
        count = len(spm(sentencepiece, TEXTS + WORDS, place / "spiece.model", 300, pad_id=0, eos_id=1, unk_id=2, bos_id=-1, pad_token="<pad>"))
        config = self.transformers.T5Config(
            vocab_size=count + 112, d_model=16, d_kv=12, d_ff=24, num_layers=2, num_decoder_layers=2, num_heads=2,
            relative_attention_num_buckets=8, relative_attention_max_distance=24, decoder_start_token_id=0,
            feed_forward_proj="gated-gelu" if gated else "relu", tie_word_embeddings=not gated)
        model = self.transformers.T5ForConditionalGeneration(config)
        if gated:
            model.lm_head.weight = self.torch.nn.Parameter(model.lm_head.weight.detach().clone())
        spread(self.torch, model, 7).save_pretrained(place)
        write(place, "tokenizer_config.json", {"tokenizer_class": "T5Tokenizer", "extra_ids": 100, "model_max_length": LONGER, "pad_token": "<pad>",
                                               "eos_token": "</s>", "unk_token": "<unk>"})

    def wordpiece_folder(self, name, tokens, model):
        place = self.root / name
        place.mkdir()
        (place / "vocab.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8")
        tokenizer = self.transformers.BertTokenizer(vocab=str(place / "vocab.txt"), do_lower_case=False)
        tokenizer.save_pretrained(place)
        spread(self.torch, model, 3).save_pretrained(place)
        (place / "vocab.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8")

    def roberta_folder(self, name, model_class, tied):
        self.byte_folder(name, self.transformers.RobertaTokenizer, ["<s>", "<pad>", "</s>", "<unk>", "<mask>"], lambda size: model_class(
            self.transformers.RobertaConfig(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24,
                                            max_position_embeddings=LIMIT + 2, vocab_size=size, type_vocab_size=1, layer_norm_eps=1e-5,
                                            pad_token_id=1, bos_token_id=0, eos_token_id=2, tie_word_embeddings=tied)))

    def byte_folder(self, name, tokenizer_class, special, make):
        import tokenizers
        place = self.root / name
        place.mkdir()
        bpe = tokenizers.ByteLevelBPETokenizer()
        bpe.train_from_iterator([" ".join(WORDS)] * 4 + TEXTS, vocab_size=420, min_frequency=2, special_tokens=special, show_progress=False)
        bpe.save_model(str(place))
        # The tokenizer keeps its merges in the order of training.
        vocab = json.loads((place / "vocab.json").read_text(encoding="utf-8"))
        merges = [tuple(line.split(" ")) for line in (place / "merges.txt").read_text(encoding="utf-8").splitlines()
                  if line and not line.startswith("#version")]
        tokenizer_class(vocab=vocab, merges=merges).save_pretrained(place)
        spread(self.torch, make(len(vocab)), 4).save_pretrained(place)

    def sentence_folder(self):
        place = self.root / "sentence"
        shutil.copytree(self.root / "bert", place)
        kind = "sentence_transformers.models."
        write(place, "modules.json", [{"idx": 0, "name": "0", "path": "", "type": kind + "Transformer"},
                                      {"idx": 1, "name": "1", "path": "1_Pooling", "type": kind + "Pooling"},
                                      {"idx": 2, "name": "2", "path": "2_Normalize", "type": kind + "Normalize"}])
        write(place, "sentence_bert_config.json", {"max_seq_length": 20, "do_lower_case": False})
        (place / "1_Pooling").mkdir()
        write(place, "1_Pooling/config.json", {"word_embedding_dimension": 16, "pooling_mode_cls_token": False,
                                               "pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": False,
                                               "pooling_mode_mean_sqrt_len_tokens": False})
        write(place, "config_sentence_transformers.json", {"prompts": {}, "default_prompt_name": None, "similarity_fn_name": "cosine"})


def spm(sentencepiece, lines, path, size, **more):
    """Trains a model, writes it to `path`, and returns its tokens."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model, vocab_size=size, minloglevel=2,
                                             hard_vocab_limit=False, **more)
    path.write_bytes(model.getvalue())
    loaded = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return [loaded.id_to_piece(i) for i in range(loaded.get_piece_size())]


def write(place, file, value):
    (pathlib.Path(place) / file).write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")


def read(place, file):
    path = pathlib.Path(place) / file
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
