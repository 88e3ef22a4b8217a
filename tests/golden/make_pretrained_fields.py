#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes tests/golden/pretrained_fields.json: for each model type the members that the classes of
`transformers` and sentence-transformers read from the files of a folder. unit/pretrained/field_rules_test.cpp
checks that the table of docs/reference/pretrained_fields.md is complete. Run it by hand for a new version of
the packages; the result is committed.

    pip install torch transformers sentence-transformers sentencepiece
    python tests/golden/make_pretrained_fields.py
"""
import dataclasses
import inspect
import json
import pathlib

import sentence_transformers
import transformers
from sentence_transformers.sentence_transformer.modules import Pooling
from sentence_transformers.base.modules.transformer import Transformer

CLASSES = {"bert": ("BertConfig", "BertTokenizer"), "distilbert": ("DistilBertConfig", "BertTokenizer"),
           "roberta": ("RobertaConfig", "RobertaTokenizer"), "gpt2": ("GPT2Config", "GPT2Tokenizer"),
           "bart": ("BartConfig", "RobertaTokenizer"), "marian": ("MarianConfig", "MarianTokenizer"), "t5": ("T5Config", "T5Tokenizer")}
# Popped from what a config is made of, in PreTrainedConfig.__post_init__, or kept by from_pretrained.
ALWAYS = ["model_type", "torch_dtype", "num_labels", "name_or_path", "_name_or_path", "_commit_hash", "output_attentions",
          "attn_implementation", "experts_implementation", "per_layer_config", "tie_last_hidden_states", "auto_map", "quantization_config",
          "tokenizer_class"]
GENERATION = list(transformers.GenerationConfig._get_default_generation_params()) + ["bos_token_id", "eos_token_id", "pad_token_id",
                                                                                    "decoder_start_token_id"]
TOKENIZER_BASE = ["tokenizer_class", "auto_map", "added_tokens_decoder", "additional_special_tokens", "extra_special_tokens", "add_bos_token",
                  "add_eos_token", "init_inputs", "fast_tokenizer_files", "model_max_length", "padding_side", "truncation_side",
                  "model_input_names", "clean_up_tokenization_spaces", "split_special_tokens", "chat_template", "name_or_path",
                  "processor_class", "backend", "pad_token_type_id", "pad_to_multiple_of", "max_length", "stride", "truncation_strategy",
                  *transformers.PreTrainedTokenizerBase.SPECIAL_TOKENS_ATTRIBUTES]
# Arguments that no tokenizer_config.json sets: files are found in the folder.
FILES = {"self", "args", "kwargs", "vocab", "merges", "source_spm", "target_spm"}


def config_fields(name):
    config = getattr(transformers, name)
    own = [field.name for field in dataclasses.fields(config) if field.init and not field.name.startswith("_")]
    return sorted({*own, *ALWAYS, *config.attribute_map} - {"base_config_key"})


def arguments(function):
    return [name for name in inspect.signature(function).parameters if name not in FILES and not name.startswith("_")]


def main():
    fields = {}
    for model_type, (config, tokenizer) in CLASSES.items():
        fields[model_type] = {"config.json": config_fields(config), "generation_config.json": sorted(set(GENERATION)),
                              "tokenizer_config.json": sorted({*TOKENIZER_BASE, *arguments(getattr(transformers, tokenizer).__init__)})}
    for model_type in ("bert", "distilbert", "roberta"):
        fields[model_type]["sentence_bert_config.json"] = sorted(set(arguments(Transformer.__init__)))
        legacy = inspect.getmodule(Pooling)._LEGACY_POOLING_MODE_KWARGS
        fields[model_type]["1_Pooling/config.json"] = sorted({*Pooling.config_keys, *Pooling.config_key_renames, *legacy})
    made = {"transformers": transformers.__version__, "sentence_transformers": sentence_transformers.__version__, "fields": fields}
    place = pathlib.Path(__file__).resolve().parent / "pretrained_fields.json"
    place.write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
