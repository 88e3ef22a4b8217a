#!/usr/bin/env python3
"""Folders of `transformers` with one field changed: each is imported and asked about odd texts, and must give what `transformers`
(or sentence-transformers) computes from the same folder, within 1e-4, or be refused by name. There is no third outcome: the script
prints how many folders were equal, refused and wrong, and leaves with 1 where one is wrong. The models are small, with weights drawn
at random. Encoders are compared by vectors and masked words, a GPT-2 and a BART by the text that they write, the best piece each
time, and its log-probability. A MarianMT and a T5, whose pieces are those of SentencePiece, are not among them. Leaves with 77
(skipped) without transformers and torch.

    compare_folders.py build/openmp/bin/exp [--only WORD] [-v]
"""
import argparse
import copy
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

TOLERANCE = 1e-4
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
# A RoBERTa there counts no position for a piece <pad> within a text (docs/pretrained.md).
LINES = {"roberta": [text for text in TEXTS if "<pad>" not in text], "gpt2": TEXTS[:30], "bart": TEXTS[:30]}
PIECES = 8  # that are written
KINDS = {"bert_mlm": "masked", "sentence": "sentences", "gpt2": "written", "bart": "written"}
TASKS = {"gpt2": "lm", "bart": "summarize"}
MASKED = ["Anna lives in [MASK] .", "[MASK]", "the [MASK] is [MASK]", "[MASK] Mara"]
LIMIT = 48


class Bench:
    def __init__(self, exp, folder):
        self.exp, self.folder = os.path.abspath(exp), folder
        self.environment = {**os.environ, "ENCORE_CACHE": os.path.join(folder, "cache"), "OMP_NUM_THREADS": "1"}
        self.number = 0

    def call(self, *arguments):
        return subprocess.run([self.exp, *arguments], cwd=self.folder, env=self.environment, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)

    def ask(self, place, texts, task):
        """The answers of an import, or the sentence that refuses it. `task`: of models that write, else empty."""
        self.number += 1
        name, database = f"run{self.number}", f"db{self.number}.db"
        done = self.call("import", place, "--name", name, "--db", database, "-q", *(("--task", task) if task else ()))
        if done.returncode != 0:
            return None, (done.stderr or done.stdout).strip()
        file = os.path.join(self.folder, "texts.txt")
        pathlib.Path(file).write_text("".join(text + "\n" for text in texts), encoding="utf-8")
        if task:
            done = self.call("generate", name, "--db", database, "--file", file, "--json", "--max-tokens", str(PIECES), "--length-penalty", "0")
            if done.returncode != 0:
                return None, done.stderr.strip()
            return [prompt["texts"][0] for prompt in json.loads(done.stdout)["prompts"]], done.stderr
        done = self.call("predict", name, "--db", database, "--file", file, "--format", "jsonl")
        if done.returncode != 0:
            return None, done.stderr.strip()
        return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def wordpieces():
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    characters = sorted({c for text in TEXTS + WORDS for c in text if not c.isspace() and c.isprintable()})
    for piece in characters + WORDS + ["##" + c for c in characters] + ["##" + w for w in ("ab", "cd", "er", "s", "ing", "new", "york")]:
        if piece not in pieces:
            pieces.append(piece)
    return pieces


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
        pieces = wordpieces()
        self.bert_shape = shape | dict(vocab_size=len(pieces), type_vocab_size=2)
        t = transformers
        self.wordpiece_folder("bert", pieces, t.BertModel(t.BertConfig(**self.bert_shape)))
        self.wordpiece_folder("bert_mlm", pieces, t.BertForMaskedLM(t.BertConfig(**self.bert_shape)))
        self.wordpiece_folder("distilbert", pieces, t.DistilBertModel(t.DistilBertConfig(
            dim=16, n_layers=2, n_heads=2, hidden_dim=24, vocab_size=len(pieces), max_position_embeddings=LIMIT)))
        self.byte_folder("roberta", t.RobertaTokenizer, ["<s>", "<pad>", "</s>", "<unk>", "<mask>"], lambda size: t.RobertaModel(
            t.RobertaConfig(**{**shape, "max_position_embeddings": LIMIT + 2}, vocab_size=size, type_vocab_size=1, layer_norm_eps=1e-5,
                            pad_token_id=1, bos_token_id=0, eos_token_id=2)))
        self.sentence_folder()
        self.byte_folder("gpt2", t.GPT2Tokenizer, ["<|endoftext|>"], lambda size: t.GPT2LMHeadModel(t.GPT2Config(
            n_embd=16, n_layer=2, n_head=2, n_positions=LIMIT, vocab_size=size, bos_token_id=0, eos_token_id=0)))
        self.byte_folder("bart", t.BartTokenizer, ["<s>", "<pad>", "</s>", "<unk>", "<mask>"], lambda size: t.BartForConditionalGeneration(
            t.BartConfig(d_model=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2,
                         encoder_ffn_dim=24, decoder_ffn_dim=24, max_position_embeddings=LIMIT, vocab_size=size, forced_bos_token_id=0)))

    def wordpiece_folder(self, name, pieces, model):
        place = self.root / name
        place.mkdir()
        (place / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
        tokenizer = self.transformers.BertTokenizer(vocab=str(place / "vocab.txt"), do_lower_case=False)
        tokenizer.save_pretrained(place)
        spread(self.torch, model, 3).save_pretrained(place)
        (place / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")

    def byte_folder(self, name, tokenizer_class, special, make):
        import tokenizers
        place = self.root / name
        place.mkdir()
        bpe = tokenizers.ByteLevelBPETokenizer()
        bpe.train_from_iterator([" ".join(WORDS)] * 4 + TEXTS, vocab_size=420, min_frequency=2, special_tokens=special, show_progress=False)
        bpe.save_model(str(place))
        # So that the tokenizer has its merges in the order that was trained.
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


def write(place, file, value):
    (pathlib.Path(place) / file).write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")


def read(place, file):
    path = pathlib.Path(place) / file
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


REMOVE = object()


class Change:
    """`path`: keys into the JSON of the file; `value` REMOVE takes the member away; `also`: further changes that go with it."""

    def __init__(self, base, file, path, value, also=()):
        self.base, self.file, self.path, self.value, self.also = base, file, path if isinstance(path, tuple) else (path,), value, also
        shown = "removed" if value is REMOVE else json.dumps(value, ensure_ascii=False)
        self.name = f"{base} {file} {'.'.join(map(str, self.path))} = {shown[:80]}" + (f" (+{len(also)})" if also else "")

    def apply(self, place):
        for file, path, value in ((self.file, self.path, self.value), *self.also):
            if file == "-":  # a file as a whole
                (pathlib.Path(place) / path[0]).unlink()
                continue
            whole = read(place, file)
            spot = whole
            for key in path[:-1]:
                spot = spot[key] if not isinstance(spot, dict) else spot.setdefault(key, {})
            if value is REMOVE:
                spot.pop(path[-1], None)
            elif isinstance(spot, list) and path[-1] == "+":
                spot.append(value)
            else:
                spot[path[-1]] = value
            write(place, file, whole)


def token(content, number, **flags):
    base = dict(content=content, single_word=False, lstrip=False, rstrip=False, normalized=False, special=False)
    return {"id": number, **base, **flags}


def changes():
    config, tok, whole, spec = "config.json", "tokenizer_config.json", "tokenizer.json", "special_tokens_map.json"
    out = []

    def add(bases, file, path, *values, also=()):
        for base in bases.split():
            for value in values:
                out.append(Change(base, file, path, value, also))

    no_whole = (("-", (whole,), None),)
    # --- config.json
    add("bert", config, "hidden_act", "gelu", "relu", "silu", "swish", "gelu_new", "gelu_pytorch_tanh", "gelu_fast", "quick_gelu", "tanh", "mish")
    add("bert_mlm", config, "hidden_act", "relu", "silu", "gelu_new")
    add("bert_mlm", config, "layer_norm_eps", 1e-3)
    add("distilbert", config, "activation", "relu", "silu", "gelu_new")
    add("roberta", config, "hidden_act", "relu", "gelu_new")
    add("bert roberta", config, "layer_norm_eps", 1e-5, 1e-2, REMOVE)
    add("bert", config, "num_attention_heads", 1, 4, 8, 16)
    add("distilbert", config, "n_heads", 1, 4)
    add("bert", config, "position_embedding_type", "relative_key", "absolute", None)
    add("bert distilbert roberta", config, "is_decoder", True)
    add("bert roberta", config, "add_cross_attention", True)
    add("bert", config, "is_encoder_decoder", True)
    add("bert", config, "pruned_heads", {"0": [1]}, {})
    add("bert", config, "chunk_size_feed_forward", 2)
    add("bert roberta", config, "type_vocab_size", 1, 3)
    add("bert roberta distilbert", config, "max_position_embeddings", 20, 512)
    add("bert roberta", config, "pad_token_id", 0, 1, 3, None)
    add("bert", config, "hidden_dropout_prob", 0.5)
    add("bert", config, "classifier_dropout", 0.3)
    add("bert_mlm", config, "tie_word_embeddings", False, True)
    add("bert", config, "problem_type", "regression", "multi_label_classification")
    add("bert", config, "tokenizer_class", "BertJapaneseTokenizer", "BertTokenizerFast", "AlbertTokenizer",
        also=((tok, ("tokenizer_class",), REMOVE),))
    add("bert roberta", config, "num_labels", 7)
    add("bert", config, "id2label", {"0": "a", "1": "b", "2": "c"})
    add("bert", config, "use_cache", False)
    add("bert", config, "torch_dtype", "float16")
    add("bert", config, "quantization_config", {"quant_method": "bitsandbytes"})
    add("bert", config, "auto_map", {"AutoModel": "modeling.Model"})
    add("bert", config, "embedding_size", 8)
    add("bert", config, "rope_scaling", {"type": "linear", "factor": 2.0})
    add("bert", config, "sliding_window", 4)
    add("bert", config, "attention_bias", False)
    add("bert", config, "scale_embedding", True)
    add("bert", config, "normalize_before", True)
    add("bert", config, "vocab_size", 20)
    add("distilbert", config, "sinusoidal_pos_embds", True)
    add("distilbert", config, "hidden_size", 16, 32)
    add("distilbert", config, "num_hidden_layers", 1)
    add("bert", config, "num_hidden_layers", 1)
    add("bert", config, "bos_token_id", 7)
    add("bert", config, "unheard_of", 3)
    # --- tokenizer_config.json; tokenizer.json says the same, says something else, or is not there
    normal = ("normalizer",)
    add("bert", tok, "do_lower_case", True, REMOVE)
    add("bert distilbert", tok, "do_lower_case", True, REMOVE, False, also=no_whole)
    add("bert", tok, "do_lower_case", True, also=((whole, normal + ("lowercase",), True),))
    for value in (True, False):
        add("bert", tok, "strip_accents", value)
        add("bert", tok, "strip_accents", value, also=no_whole)
        add("bert", tok, "strip_accents", value, also=no_whole + ((tok, ("do_lower_case",), True),))
        add("bert", tok, "strip_accents", value, also=no_whole + ((tok, ("do_lower_case",), REMOVE),))
        add("bert", tok, "strip_accents", value, also=((whole, normal + ("strip_accents",), value),))
    add("bert", tok, "tokenize_chinese_chars", False)
    add("bert", tok, "tokenize_chinese_chars", False, also=no_whole)
    add("bert", tok, "tokenize_chinese_chars", False, also=no_whole + ((tok, ("do_lower_case",), REMOVE),))
    add("bert", tok, "tokenize_chinese_chars", False, also=((whole, normal + ("handle_chinese_chars",), False),))
    add("bert", tok, "tokenizer_class", "BertTokenizerFast", "DistilBertTokenizer", "PreTrainedTokenizerFast", "TokenizersBackend",
        "BertJapaneseTokenizer", "RobertaTokenizer", "NoSuchTokenizer", REMOVE)
    add("bert", tok, "tokenizer_class", "PreTrainedTokenizerFast", also=((tok, ("do_lower_case",), True),))
    add("bert", tok, "tokenizer_class", "PreTrainedTokenizerFast", also=((whole, normal + ("lowercase",), True),))
    add("bert", tok, "tokenizer_class", "PreTrainedTokenizerFast", also=no_whole)
    add("bert", tok, "model_max_length", 10, 1000000)
    add("bert roberta", tok, "truncation_side", "left", "right")
    add("bert", tok, "padding_side", "left")
    add("bert", tok, "model_input_names", ["input_ids", "attention_mask"], ["input_ids", "token_type_ids", "attention_mask"])
    add("bert", tok, "do_basic_tokenize", False, True)
    add("bert", tok, "never_split", ["good"], [])
    add("bert", tok, "clean_up_tokenization_spaces", True)
    add("bert", tok, "split_special_tokens", True)
    add("bert", tok, "add_bos_token", True)
    add("bert", tok, "unk_token", "[PAD]", "<unk>")
    add("bert", tok, "cls_token", "[SEP]", "good")
    add("bert", tok, "sep_token", "[CLS]", "good")
    add("bert", tok, "mask_token", "good", {"__type": "AddedToken", "content": "[MASK]", "lstrip": True, "rstrip": False,
                                            "normalized": False, "single_word": False, "special": True})
    add("bert", tok, "pad_token", "good")
    add("bert", tok, "additional_special_tokens", ["good", "film"], ["[E9]"], [])
    add("bert", tok, "extra_special_tokens", ["good"], {"thing_token": "film"})
    add("bert", tok, "thing_token", "good")
    add("bert", tok, "unheard_of", True)
    add("roberta", tok, "add_prefix_space", True, False, also=no_whole)
    add("roberta", tok, "add_prefix_space", True)
    add("roberta", tok, "tokenizer_class", "RobertaTokenizerFast", "GPT2Tokenizer", "BartTokenizer", "PreTrainedTokenizerFast")
    add("roberta", tok, "mask_token", {"__type": "AddedToken", "content": "<mask>", "lstrip": True, "rstrip": False, "normalized": False,
                                       "single_word": False, "special": True}, "<mask>")
    add("roberta", tok, "cls_token", "</s>")
    add("roberta", tok, "additional_special_tokens", ["good"], ["Ġ"])
    add("roberta", tok, "trim_offsets", False)
    add("roberta", tok, "errors", "ignore")
    # --- tokens that were added, in all their flags
    pieces = len(wordpieces())
    row = {"good": wordpieces().index("good"), "covid": wordpieces().index("covid"), "new": None}
    for flags in ({}, {"special": True}, {"lstrip": True}, {"rstrip": True}, {"single_word": True}, {"normalized": True},
                  {"lstrip": True, "rstrip": True}, {"single_word": True, "normalized": True}, {"normalized": True, "lstrip": True},
                  {"normalized": True, "rstrip": True}):
        for lower in (False, True):
            also = [(tok, ("added_tokens_decoder",), REMOVE)]
            if lower:
                also += [(tok, ("do_lower_case",), True), (whole, normal + ("lowercase",), True)]
            out.append(Change("bert", whole, ("added_tokens", "+"), token("covid", row["covid"], **flags), tuple(also)))
        out.append(Change("roberta", whole, ("added_tokens", "+"), ("roberta token", flags), ((tok, ("added_tokens_decoder",), REMOVE),)))
    for content in ("<drug>", "[E9]", "new york", "Café", "a b", "中国", ".", "İ"):
        for normalized in (False, True):
            out.append(Change("bert", whole, ("added_tokens", "+"), token(content, pieces, normalized=normalized),
                              ((tok, ("added_tokens_decoder",), REMOVE), (config, ("vocab_size",), pieces + 1), ("-", ("vocab.txt",), None))))
    # --- tokenizer.json
    add("bert", whole, ("normalizer",), None, {"type": "Lowercase"}, {"type": "NFC"}, {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}]},
        {"type": "Replace", "pattern": {"String": "a"}, "content": "b"}, {"type": "Prepend", "prepend": "x"})
    add("bert", whole, ("normalizer", "clean_text"), False)
    add("bert", whole, ("normalizer", "lowercase"), True)
    add("bert", whole, ("pre_tokenizer",), None, {"type": "Whitespace"}, {"type": "WhitespaceSplit"}, {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True})
    add("bert", whole, ("post_processor",), None, {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        {"type": "BertProcessing", "sep": ["[CLS]", 2], "cls": ["[SEP]", 3]})
    add("bert", whole, ("model", "max_input_chars_per_word"), 3, 200)
    add("bert", whole, ("model", "continuing_subword_prefix"), "@@")
    add("bert", whole, ("model", "unk_token"), "[PAD]")
    add("bert", whole, ("model", "vocab", "good"), 9)
    add("bert", whole, ("decoder",), None)
    add("bert", whole, ("truncation",), {"direction": "Right", "max_length": 6, "strategy": "LongestFirst", "stride": 0})
    add("bert", whole, ("padding",), {"strategy": {"Fixed": 30}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"})
    add("roberta", whole, ("normalizer",), {"type": "NFC"}, {"type": "Lowercase"})
    add("roberta", whole, ("pre_tokenizer",), {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}, {"type": "Whitespace"})
    add("roberta", whole, ("model", "dropout"), 0.5)
    add("roberta", whole, ("model", "ignore_merges"), True)
    add("roberta", whole, ("model", "byte_fallback"), True)
    add("roberta", whole, ("model", "fuse_unk"), True)
    add("roberta", whole, ("model", "end_of_word_suffix"), "</w>")
    add("roberta", whole, ("post_processor",), None, {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True})
    # --- files of before version 5
    add("bert", spec, "cls_token", "[CLS]", "good", also=((tok, ("added_tokens_decoder",), REMOVE),))
    add("bert", spec, "additional_special_tokens", ["good"], also=((tok, ("added_tokens_decoder",), REMOVE),))
    add("bert", "added_tokens.json", "good", row["good"], 3, also=no_whole + ((tok, ("added_tokens_decoder",), REMOVE),))
    add("bert", "generation_config.json", "num_beams", 4)
    # --- models that write
    made = "generation_config.json"
    add("gpt2 bart", config, "activation_function", "gelu", "relu", "silu", "gelu_new", "gelu_fast", "quick_gelu", "tanh")
    add("gpt2", config, "layer_norm_epsilon", 1e-3, REMOVE)
    add("gpt2", config, "n_head", 1, 4)
    add("gpt2", config, "n_inner", None, 64, 24)
    add("gpt2", config, "n_positions", 24, 512)
    add("gpt2", config, "n_ctx", 8)
    add("gpt2", config, "scale_attn_weights", False, None)
    add("gpt2", config, "scale_attn_by_inverse_layer_idx", True)
    add("gpt2", config, "reorder_and_upcast_attn", True)
    add("gpt2 bart", config, "tie_word_embeddings", False, True)
    add("gpt2", config, "add_cross_attention", True)
    add("gpt2", config, "eos_token_id", 3)
    add("gpt2", config, "bos_token_id", 3)
    add("gpt2 bart", tok, "add_prefix_space", True, also=((whole, ("pre_tokenizer", "add_prefix_space"), True),))
    add("gpt2", tok, "add_bos_token", True)
    add("gpt2", tok, "eos_token", "good")
    add("gpt2 bart", whole, ("added_tokens", "+"), *(("roberta token", flags) for flags in ({}, {"special": True}, {"lstrip": True})),
        also=())
    add("gpt2 bart", made, "num_beams", 4)
    add("gpt2 bart", made, "repetition_penalty", 1.3)
    add("gpt2 bart", made, "no_repeat_ngram_size", 2)
    add("gpt2 bart", made, "eos_token_id", 3)
    add("bart", config, "encoder_attention_heads", 1, 4)
    add("bart", config, "encoder_ffn_dim", 48)
    add("bart", config, "max_position_embeddings", 20, 512)
    add("bart", config, "scale_embedding", True)
    add("bart", config, "normalize_before", True)
    add("bart", config, "add_final_layer_norm", True)
    add("bart", config, "static_position_embeddings", True)
    add("bart", config, "normalize_embedding", False)
    add("bart", config, "add_bias_logits", True)
    add("bart", config, "decoder_start_token_id", 0, 1, 4, also=((made, ("decoder_start_token_id",), REMOVE),))
    add("bart", made, "decoder_start_token_id", 0)
    add("bart", made, "forced_bos_token_id", 3)
    add("bart", config, "pad_token_id", 0)
    add("bart", config, "extra_pos_embeddings", 0)
    add("bart", made, "suppress_tokens", [5])
    # --- sentence-transformers
    pool, sbert, prompts = "1_Pooling/config.json", "sentence_bert_config.json", "config_sentence_transformers.json"
    add("sentence", pool, "pooling_mode_mean_tokens", True, False)
    add("sentence", pool, "pooling_mode_cls_token", True, also=((pool, ("pooling_mode_mean_tokens",), False),))
    add("sentence", pool, "pooling_mode_cls_token", True)
    add("sentence", pool, "pooling_mode_max_tokens", True, also=((pool, ("pooling_mode_mean_tokens",), False),))
    add("sentence", pool, "pooling_mode_mean_sqrt_len_tokens", True)
    add("sentence", pool, "pooling_mode", "cls", "max", "lasttoken", "weightedmean")
    add("sentence", pool, "include_prompt", False)
    add("sentence", pool, "word_embedding_dimension", 8)
    add("sentence", sbert, "max_seq_length", 5, 12, REMOVE, 400)
    add("sentence", sbert, "do_lower_case", True)
    add("sentence", sbert, "do_lower_case", True, also=no_whole + ((tok, ("do_lower_case",), True),))
    add("sentence", sbert, "do_lower_case", True, also=no_whole + ((tok, ("strip_accents",), True),))
    add("sentence", prompts, "default_prompt_name", "query", also=((prompts, ("prompts",), {"query": "good "}),))
    add("sentence", prompts, "prompts", {"query": "good "})
    add("sentence", prompts, "similarity_fn_name", "dot")
    return out


class Theirs:
    def __init__(self, torch, transformers):
        self.torch, self.transformers = torch, transformers

    def vectors(self, place, texts):
        t = self.transformers
        tokenizer = t.AutoTokenizer.from_pretrained(place)
        model = t.AutoModel.from_pretrained(place, dtype=self.torch.float32).eval()
        limit = min(LIMIT, tokenizer.model_max_length)
        rows = []
        for text in texts:
            encoded = tokenizer(text, truncation=True, max_length=limit, return_tensors="pt")
            with self.torch.no_grad():
                rows.append(model(**encoded).last_hidden_state[0].mean(0).tolist())
        return rows

    def sentences(self, place, texts):
        import sentence_transformers
        model = sentence_transformers.SentenceTransformer(place, device="cpu")
        return [model.encode(text).tolist() for text in texts]

    def masked(self, place, texts):
        t = self.transformers
        tokenizer = t.AutoTokenizer.from_pretrained(place)
        model = t.AutoModelForMaskedLM.from_pretrained(place, dtype=self.torch.float32).eval()
        rows = []
        for text in texts:
            encoded = tokenizer(text, return_tensors="pt")
            with self.torch.no_grad():
                shares = model(**encoded).logits[0].softmax(-1)
            for place_of, number in enumerate(encoded["input_ids"][0].tolist()):
                if number == tokenizer.mask_token_id:
                    rows.append({piece: shares[place_of, at].item() for piece, at in tokenizer.get_vocab().items()})
        return rows


    def written(self, place, texts):
        """The text that is written behind each, and its log-probability. What generation_config.json says beside the first piece
        of a text is not taken over here (docs/pretrained_fields.md), and does not count there either."""
        t, torch = self.transformers, self.torch
        tokenizer = t.AutoTokenizer.from_pretrained(place)
        config = t.AutoConfig.from_pretrained(place)
        rows = []
        decodes = config.is_encoder_decoder
        model = (t.AutoModelForSeq2SeqLM if decodes else t.AutoModelForCausalLM).from_pretrained(place, dtype=torch.float32).eval()
        for text in texts:
            prompt = tokenizer(text)["input_ids"]
            if decodes:
                begin = [config.decoder_start_token_id, 0]  # 0: <s>, which begins each text here
            else:
                begin = [tokenizer.bos_token_id, *prompt]  # a text begins with its marker here
            pieces, total = [], 0.0
            with torch.no_grad():
                while len(pieces) < PIECES and (not pieces or pieces[-1] != tokenizer.eos_token_id):
                    given = torch.tensor([begin + pieces])
                    logits = model(input_ids=torch.tensor([prompt]), decoder_input_ids=given).logits if decodes else model(given).logits
                    shares = logits[0, -1].log_softmax(-1)
                    pieces.append(int(shares.argmax()))
                    total += shares[pieces[-1]].item()
            rows.append((tokenizer.decode(pieces, skip_special_tokens=True, clean_up_tokenization_spaces=False), total))
        return rows


def guesses(answers):
    """{"piece": share}, with three decimals, for the best pieces of each mask."""
    rows = []
    for answer in answers:
        for text in answer["candidates"]:
            parts = text.split(" ")
            rows.append({piece: float(share) for piece, share in zip(parts[::2], parts[1::2])})
    return rows


def largest_of_guesses(ours, theirs):
    if len(ours) != len(theirs):
        return float("inf")
    rounding = 5e-4
    return max(max(0.0, abs(share - other[piece]) - rounding) for row, other in zip(ours, theirs) for piece, share in row.items())


def largest(a, b):
    if [len(row) for row in a] != [len(row) for row in b]:
        return float("inf")
    return max((abs(x - y) for one, other in zip(a, b) for x, y in zip(one, other)), default=0.0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("exp")
    parser.add_argument("--only", default="")
    parser.add_argument("-v", action="store_true")
    wanted = parser.parse_args()
    try:
        import torch
        import transformers
    except ImportError as missing:
        print(f"skipped: {missing}")
        return 77
    transformers.utils.logging.set_verbosity_error()
    torch.set_num_threads(1)
    counts = {"equal": 0, "refused": 0, "wrong": 0, "not loaded there": 0}
    with tempfile.TemporaryDirectory() as root:
        (pathlib.Path(root) / "bases").mkdir()
        bases = Bases(torch, transformers, pathlib.Path(root) / "bases")
        bench, theirs = Bench(wanted.exp, root), Theirs(torch, transformers)
        all_changes = [None_change(base) for base in ("bert", "bert_mlm", "distilbert", "roberta", "sentence", "gpt2", "bart")] + changes()
        for change in all_changes:
            if wanted.only not in change.name:
                continue
            place = os.path.join(root, "folder")
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(bases.root / change.base, place)
            prepare(change, place)
            change.apply(place)
            kind = KINDS.get(change.base, "vectors")
            texts = MASKED if kind == "masked" else LINES.get(change.base, TEXTS)
            answers, said = bench.ask(place, texts, TASKS.get(change.base, ""))
            outcome, detail = judge(theirs, kind, place, texts, answers, said)
            counts[outcome] += 1
            if wanted.v or outcome == "wrong":
                print(f"{outcome}: {change.name}: {detail}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return 1 if counts["wrong"] else 0


def None_change(base):
    return Change(base, "config.json", "transformers_version", "0")


def prepare(change, place):
    """A RoBERTa's token is the piece of a word there, whose number is looked up."""
    if isinstance(change.value, tuple):
        vocab = read(place, "tokenizer.json")["model"]["vocab"]
        word = next(piece for piece in ("good", "covid", "ood", "an", "in", "er") if piece in vocab)
        change.value = token(word, vocab[word], **change.value[1])


def judge(theirs, kind, place, texts, answers, said):
    if answers is None:
        return "refused", said.splitlines()[-1][-300:] if said else "no sentence"
    try:
        expected = getattr(theirs, kind)(place, texts)
    except Exception as error:  # whatever a folder makes of it
        return "not loaded there", f"{type(error).__name__}: {str(error)[:200]}"
    if kind == "masked":
        difference = largest_of_guesses(guesses(answers), expected)
        return ("equal" if difference <= TOLERANCE else "wrong"), f"{difference:.1e}"
    if kind == "written":
        wrong = [(text, answer, theirs_of) for text, answer, theirs_of in zip(texts, answers, expected)
                 if answer["text"] != theirs_of[0] or abs(answer["score"] - theirs_of[1]) > TOLERANCE]
        return ("wrong", f"{len(wrong)} of {len(texts)}: {wrong[0]}") if wrong else ("equal", "")
    ours = [answer["embedding"] for answer in answers]
    difference = largest(ours, expected)
    if difference <= TOLERANCE:
        return "equal", f"{difference:.1e}"
    worst = [text for text, a, b in zip(texts, ours, expected)
             if len(a) != len(b) or max(abs(x - y) for x, y in zip(a, b)) > TOLERANCE]
    return "wrong", f"{difference:.1e} {worst[:6]} {said[-200:]}"


if __name__ == "__main__":
    sys.exit(main())
