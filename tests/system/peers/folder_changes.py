# SPDX-License-Identifier: BSD-3-Clause
"""The changes that compare_folders.py makes in the folders of folder_bases.py: one field each, and all that
must change with it. A new field that `exp import` reads gets a change here.
"""
import json
import pathlib

from folder_bases import MLM, read, wordpieces, write

FAMILIES = ("bert", "distilbert", "roberta", "gpt2", "bart", "marian", "t5")
REMOVE = object()


class Change:
    """`path`: keys into the JSON of the file; `value` REMOVE removes the member; `also`: further changes with it."""

    def __init__(self, base, file, path, value, also=()):
        self.base, self.file, self.path, self.value, self.also = base, file, path if isinstance(path, tuple) else (path,), value, also
        shown = "removed" if value is REMOVE else json.dumps(value, ensure_ascii=False)
        self.name = f"{base} {file} {'.'.join(map(str, self.path))} = {shown[:80]}" + (f" (+{len(also)})" if also else "")

    def apply(self, place):
        for file, path, value in ((self.file, self.path, self.value), *self.also):
            if file == "-":  # a file as a whole
                (pathlib.Path(place) / path[0]).unlink()
                continue
            if file == "rows":  # adds this number of rows to the table of tokens
                add_rows(place, value)
                continue
            whole = read(place, file)
            spot = whole
            for key in path[:-1]:
                spot = spot[int(key)] if not isinstance(spot, dict) else spot.setdefault(key, {})
            if value is REMOVE and isinstance(spot, list):
                spot.pop(int(path[-1]))
            elif value is REMOVE:
                spot.pop(path[-1], None)
            elif isinstance(spot, list):
                spot.append(value) if path[-1] == "+" else spot.__setitem__(int(path[-1]), value)
            else:
                spot[path[-1]] = value
            write(place, file, whole)


def add_rows(place, count):
    import safetensors.torch
    import torch
    file = str(pathlib.Path(place) / "model.safetensors")
    tensors = safetensors.torch.load_file(file)
    tables = ("word_embeddings.weight", "wte.weight", "shared.weight", "lm_head.weight", "final_logits_bias")
    for name in [name for name in tensors if name.endswith(tables)]:
        table = tensors[name]
        rows = torch.randn((count, table.shape[-1]), generator=torch.Generator().manual_seed(9)) * 0.25
        tensors[name] = torch.cat([table, rows]) if table.shape[0] > 1 else torch.cat([table, rows[:1, :count]], 1)
    safetensors.torch.save_file(tensors, file, {"format": "pt"})
    config = read(place, "config.json")
    config["vocab_size"] += count
    write(place, "config.json", config)


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
    add(" ".join(MLM), config, "tie_word_embeddings", False, True, REMOVE)
    add("roberta_mlm", config, "hidden_act", "relu", "gelu_new")
    add("distilbert_mlm", config, "activation", "relu", "gelu_new")
    add("roberta_mlm", config, "layer_norm_eps", 1e-3)
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
    # --- tokenizer_config.json; tokenizer.json agrees, differs, or is missing
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
    # --- added tokens, with all their flags
    tokens = len(wordpieces())
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
    # Tokens with a row of their own, which the splitting of words does not know.
    own_row = (("rows", (), 1), (tok, ("added_tokens_decoder",), REMOVE), ("-", ("vocab.txt",), None))
    for content in ("<drug>", "[E9]", "new york", "Café", "a b", "中国人", "İs", "covids"):
        for flags in ({}, {"normalized": True}, {"special": True}, {"single_word": True, "lstrip": True}):
            out.append(Change("bert", whole, ("added_tokens", "+"), token(content, tokens, **flags), own_row))
        lower = ((tok, ("do_lower_case",), True), (whole, normal + ("lowercase",), True))
        out.append(Change("bert", whole, ("added_tokens", "+"), token(content, tokens, normalized=True), own_row + lower))
        for base in ("roberta", "gpt2", "bart"):
            flags = {"lstrip": True, "normalized": content > "a"}
            out.append(Change(base, whole, ("added_tokens", "+"), ("own row", content, flags), own_row[:2]))
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
    # --- files from before version 5
    add("bert", spec, "cls_token", "[CLS]", "good", also=((tok, ("added_tokens_decoder",), REMOVE),))
    add("bert", spec, "additional_special_tokens", ["good"], also=((tok, ("added_tokens_decoder",), REMOVE),))
    add("bert", "added_tokens.json", "good", row["good"], 3, also=no_whole + ((tok, ("added_tokens_decoder",), REMOVE),))
    add("bert", "generation_config.json", "num_beams", 4)
    # --- models that generate
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
    add("gpt2", tok, "add_eos_token", True)
    add("gpt2 bart marian t5", made, "forced_bos_token_id", 3)
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
    add("bart", config, "pad_token_id", 0)
    add("bart", config, "extra_pos_embeddings", 0)
    add("bart", made, "suppress_tokens", [5])
    # --- classes of sentences and words
    add("bert_class", config, "problem_type", "regression", "multi_label_classification", "single_label_classification", "unheard_of")
    add("bert_multi", config, "problem_type", None, "single_label_classification")
    add("bert_class", config, "id2label", {"0": "x", "1": "y", "2": "z"}, {"0": "x", "1": "y"}, {"0": "x"}, {"0": "x", "1": "x", "2": "y"}, REMOVE)
    add("bert_one", config, "problem_type", "regression", "single_label_classification", "multi_label_classification")
    add("bert_class", config, "label2id", {"a": 2, "b": 1, "c": 0})
    add("bert_class", config, "num_labels", 3, 1)
    add("bert_class", config, "classifier_dropout", 0.5)
    add("bert_class", config, "architectures", ["BertForMaskedLM"], ["BertForMultipleChoice"], ["BertForNextSentencePrediction"])
    add("bert_tags", config, "id2label", {"0": "NOUN", "1": "VERB", "2": "DET", "3": "X", "4": "PER"},
        {"0": "O", "1": "B-PER", "2": "I-PER", "3": "L-PER", "4": "U-PER"}, {"0": "O", "1": "PER", "2": "LOC", "3": "ORG", "4": "MISC"})
    add("bert_tags", config, "hidden_act", "relu")
    # --- tokens of SentencePiece
    add("marian t5 t5_gated", tok, "tokenizer_class", "PreTrainedTokenizerFast", "TokenizersBackend", "BertTokenizer", "LlamaTokenizer", REMOVE)
    add("t5", tok, "tokenizer_class", "T5TokenizerFast")
    for field, values in (("eos_token", ("good", "<unk>", "</s>")), ("unk_token", ("good", "<pad>")), ("pad_token", ("good", "<unk>"))):
        add("marian t5", tok, field, *values)
    add("marian t5", tok, "additional_special_tokens", ["good"], ["▁good"], [], [">>de<<"])
    add("t5", tok, "additional_special_tokens", [f"<extra_id_{i}>" for i in range(100)])
    add("marian t5", tok, "extra_special_tokens", ["▁a"], {"thing_token": "▁a"})
    add("marian t5", tok, "thing_token", "good")
    for flags in ({"lstrip": True}, {"rstrip": True}, {"single_word": True}, {"normalized": True}):
        ending = {"__type": "AddedToken", **token("</s>", 0, special=True), **flags}
        del ending["id"]
        add("marian t5", tok, "eos_token", ending)
    add("marian t5", tok, "added_tokens_decoder", {"5": token("▁good", 5)})
    add("marian t5", tok, "sp_model_kwargs", {"enable_sampling": True, "alpha": 0.1, "nbest_size": -1}, {})
    add("marian t5", tok, "model_max_length", 12, 1000000)
    add("marian t5", tok, "do_lower_case", True)
    add("marian t5", tok, "split_special_tokens", True)
    add("marian t5", tok, "clean_up_tokenization_spaces", True)
    add("marian t5", tok, "truncation_side", "left")
    add("marian", tok, "separate_vocabs", True)
    add("marian", tok, "source_lang", "de")
    add("marian", tok, "target_vocab_file", "target_vocab.json")
    add("t5", tok, "extra_ids", 0, 50, 112, 200)
    add("t5", tok, "legacy", True, False)
    add("t5", tok, "add_prefix_space", False)
    add("t5", tok, "add_bos_token", True)
    add("t5", tok, "add_eos_token", False)
    add("t5_file", whole, "version", "1.0")
    add("t5_file", whole, ("model", "vocab", 20, 1), -30.0)
    add("t5_file", whole, ("model", "vocab", 20, 0), "▁zzz")
    add("t5_file", whole, ("normalizer",), None, {"type": "Lowercase"}, {"type": "NFC"})
    add("t5_file", whole, ("pre_tokenizer",), {"type": "Whitespace"})
    add("t5_file", whole, ("post_processor",), None)
    add("t5_file", whole, ("added_tokens", "+"), token("good", 440, normalized=True))
    # --- MarianMT and T5
    add("marian", config, "activation_function", "gelu", "relu", "silu", "gelu_new", "tanh")
    add("marian", config, "scale_embedding", False, REMOVE)
    add("marian", config, "encoder_layers", 1)
    add("marian", config, "decoder_layers", 1)
    add("marian", config, "encoder_attention_heads", 1)
    add("marian", config, "decoder_attention_heads", 4, also=((config, ("encoder_attention_heads",), 4),))
    add("marian", config, "max_position_embeddings", 24, 512)
    add("marian", config, "normalize_before", True)
    add("marian", config, "normalize_embedding", True)
    add("marian", config, "add_final_layer_norm", True)
    add("marian", config, "static_position_embeddings", False, True)
    add("marian", config, "share_encoder_decoder_embeddings", False)
    add("marian", config, "tie_word_embeddings", False)
    add("marian", config, "decoder_vocab_size", 7)
    add("marian", config, "decoder_start_token_id", 0, 3, also=((made, ("decoder_start_token_id",), REMOVE),))
    add("marian", config, "pad_token_id", 0)
    add("marian", config, "eos_token_id", 3)
    add("marian t5", made, "eos_token_id", 3)
    add("marian t5", made, "num_beams", 4)
    add("marian t5", made, "length_penalty", 2.0)
    add("t5 t5_gated", config, "feed_forward_proj", "relu", "gelu", "silu", "gelu_new", "tanh", "gated-relu", "gated-silu", "gated-gelu",
        "gated-tanh", also=((config, ("dense_act_fn",), REMOVE), (config, ("is_gated_act",), REMOVE)))
    add("t5", config, "dense_act_fn", "gelu_new", "relu")
    add("t5", config, "is_gated_act", True, False)
    add("t5 t5_gated", config, "layer_norm_epsilon", 1e-3, REMOVE)
    add("t5", config, "num_heads", 1, 4)
    add("t5", config, "d_kv", 8, 6)
    add("t5", config, "num_decoder_layers", 1, None, REMOVE)
    add("t5", config, "relative_attention_num_buckets", 4, 16, REMOVE)
    add("t5", config, "relative_attention_max_distance", 10, 128, REMOVE)
    add("t5 t5_gated", config, "tie_word_embeddings", False, True, REMOVE)
    add("t5 t5_gated", config, "scale_decoder_outputs", True, False, REMOVE)
    add("t5", config, "n_positions", 12, 512)
    add("t5", config, "decoder_start_token_id", 1, 2, 5, also=((made, ("decoder_start_token_id",), REMOVE),))
    add("t5", config, "is_encoder_decoder", False)
    add("t5", config, "pad_token_id", 1)
    add("t5", config, "vocab_size", 300)
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
    add("sentence", "modules.json", ("-1", "type"), "sentence_transformers.models.Dense", "sentence_transformers.models.LayerNorm")
    add("sentence", "modules.json", "-1", REMOVE)
    add("sentence", "modules.json", ("1", "type"), "sentence_transformers.models.WeightedLayerPooling")
    return out


def walked(transformers):
    """Returns each member of docs/reference/pretrained_fields.md with another value that must change no number or that counts in training
    only, and each setting of generation that a notice must name."""
    page = pathlib.Path(__file__).resolve().parents[3] / "docs" / "reference" / "pretrained_fields.md"
    file, out = "", []
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("## `"):
            file = line.split("`")[1]
        cells = [cell.strip(" `") for cell in line.strip("|").split("|")]
        settings = file == "generation_config.json"
        if len(cells) != 3 or not (settings or file in ("config.json", "tokenizer_config.json")):
            continue
        if not cells[2].startswith("a notice names it" if settings else ("changes no number", "counts in training only")):
            continue
        for base in FAMILIES if cells[1] == "all" else cells[1].split():
            usual = getattr(transformers.CONFIG_MAPPING[base](), cells[0], None) if file == "config.json" else None
            values = {bool: (not usual,), int: (3,), float: (0.37,), str: ("other",)}.get(type(usual), (7,) if settings else (True, 3))
            out += [Change(base, file, cells[0], value) for value in values]
    return out


def prepare(change, place):
    """Numbers that only the folder knows: of a token that is there, and of one behind all others."""
    if not isinstance(change.value, tuple):
        return
    vocab = read(place, "tokenizer.json")["model"]["vocab"]
    if change.value[0] == "own row":
        change.value = token(change.value[1], len(vocab), **change.value[2])
    else:
        word = next(token for token in ("good", "covid", "ood", "an", "in", "er") if token in vocab)
        change.value = token(word, vocab[word], **change.value[1])
