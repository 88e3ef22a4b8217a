// SPDX-License-Identifier: BSD-3-Clause
// The table of all members in files of a Hugging Face folder, and the check of a folder against it.
// folder_settings.cpp calls check_fields(); docs/reference/pretrained_fields.md is made from the table, and a
// test compares the two. A member that only a newer `transformers` has is not in it; a notice names it. Read
// field_rules.hpp first.
#include "pretrained/field_rules.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include <encore/error.hpp>

#include "base/json_text.hpp"
#include "config/value.hpp"

namespace encore::pretrained {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using enum FieldUse;

constexpr const char* all = "";
constexpr const char* encoders = "bert distilbert roberta";
constexpr const char* like_bert = "bert roberta";
constexpr const char* like_bart = "bart marian";
constexpr const char* with_decoder = "bart marian t5";
constexpr const char* generating = "gpt2 bart marian t5";

constexpr FieldRule config_rules[] = {
    {all, "model_type", honoured, "", "names the family; another one is refused"},
    {all, "architectures", honoured, "", "decides the task; a class that no task takes over is refused"},
    {all, "vocab_size", honoured, "", "must be the number of tokens"},
    {all, "id2label", honoured, "",
     "names of the classes, in the order of their numbers; a single class is refused"},
    {all, "problem_type", honoured, "",
     "for a class `...ForSequenceClassification`: `multi_label_classification` is supported, `regression` is "
     "refused"},
    {all, "label2id", harmless, "", "`id2label` decides"},
    {all, "num_labels", harmless, "", "`id2label` decides; without it there are no classes to import"},
    {"bert roberta distilbert", "tie_word_embeddings", honoured, "",
     "false: logits of masked words come from a matrix of their own (`model.head.tied = false`)"},
    {"gpt2 bart marian", "tie_word_embeddings", equal, "[true]",
     "a separate matrix for the logits is refused"},
    {"t5", "tie_word_embeddings", honoured, "", "see `scale_decoder_outputs`"},
    {"t5", "scale_decoder_outputs", honoured, "", "`model.head.scaled`"},

    {like_bert, "hidden_size", honoured, "", "`model.width`"},
    {like_bert, "num_hidden_layers", honoured, "", "`model.layers`"},
    {like_bert, "num_attention_heads", honoured, "", "`model.layer.attention.heads`"},
    {like_bert, "intermediate_size", honoured, "", "`model.layer.feed_forward.hidden`"},
    {like_bert, "hidden_act", honoured, "",
     "`model.layer.feed_forward.activation`; in a BERT also the activation of the head for masked words"},
    {like_bert, "layer_norm_eps", honoured, "",
     "`model.layer.norm.epsilon`, also for the head for masked words"},
    {like_bert, "type_vocab_size", honoured, "", "`model.segments`"},
    {like_bert, "hidden_dropout_prob", honoured, "", "`model.dropout`; may differ"},
    {like_bert, "attention_probs_dropout_prob", honoured, "", "`attention_dropout`; may differ"},
    {"bert roberta distilbert bart marian", "max_position_embeddings", honoured, "", "`model.max_positions`"},
    {"distilbert", "dim", honoured, "", "`model.width`"},
    {"distilbert", "n_layers", honoured, "", "`model.layers`"},
    {"distilbert", "n_heads", honoured, "", "`model.layer.attention.heads`"},
    {"distilbert", "hidden_dim", honoured, "", "`model.layer.feed_forward.hidden`"},
    {"distilbert", "activation", honoured, "", "as `hidden_act` of a BERT"},
    {"distilbert", "dropout", honoured, "", "`model.dropout`; may differ"},
    {"distilbert", "attention_dropout", honoured, "", "`attention_dropout`; may differ"},
    {"distilbert", "sinusoidal_pos_embds", harmless, "",
     "the file has the table of positions that it would fill"},
    {"distilbert", "hidden_size", same, "dim", ""},
    {"distilbert", "num_hidden_layers", same, "n_layers", ""},
    {"distilbert", "num_attention_heads", same, "n_heads", ""},
    {"gpt2", "n_embd", honoured, "", "`model.width`"},
    {"gpt2", "n_layer", honoured, "", "`model.layers`"},
    {"gpt2", "n_head", honoured, "", "`model.layer.attention.heads`"},
    {"gpt2", "n_inner", honoured, "", "`model.layer.feed_forward.hidden`; null: four times the width"},
    {"gpt2", "n_positions", honoured, "", "`model.max_positions`"},
    {"gpt2", "activation_function", honoured, "", "as `hidden_act` of a BERT"},
    {"gpt2", "layer_norm_epsilon", honoured, "", "`model.layer.norm.epsilon`"},
    {"gpt2", "resid_pdrop", honoured, "", "`model.dropout`; may differ"},
    {"gpt2", "attn_pdrop", honoured, "", "`attention_dropout`; may differ"},
    {"gpt2", "scale_attn_weights", equal, "[true]", ""},
    {"gpt2", "scale_attn_by_inverse_layer_idx", equal, "[false]", ""},
    {"gpt2", "reorder_and_upcast_attn", equal, "[false]", ""},
    {"gpt2", "hidden_size", same, "n_embd", ""},
    {"gpt2", "num_hidden_layers", same, "n_layer", ""},
    {"gpt2", "num_attention_heads", same, "n_head", ""},
    {"gpt2", "max_position_embeddings", same, "n_positions", ""},
    {"gpt2", "n_ctx", harmless, "", "no longer read there"},
    {"gpt2", "summary_type", harmless, "", "belongs to a class that is refused (`GPT2DoubleHeadsModel`)"},
    {"gpt2", "summary_use_proj", harmless, "", "likewise"},
    {"gpt2", "summary_activation", harmless, "", "likewise"},
    {"gpt2", "summary_proj_to_labels", harmless, "", "likewise"},
    {"gpt2", "summary_first_dropout", harmless, "", "likewise"},
    {like_bart, "d_model", honoured, "", "`model.width`"},
    {like_bart, "encoder_layers", honoured, "", "`model.layers`"},
    {like_bart, "decoder_layers", honoured, "", "`model.decoder.layers`"},
    {like_bart, "encoder_attention_heads", honoured, "", "`heads`; must be equal in encoder and decoder"},
    {like_bart, "decoder_attention_heads", honoured, "", "likewise"},
    {like_bart, "encoder_ffn_dim", honoured, "", "`hidden`; must be equal in encoder and decoder"},
    {like_bart, "decoder_ffn_dim", honoured, "", "likewise"},
    {like_bart, "activation_function", honoured, "", "as `hidden_act` of a BERT"},
    {like_bart, "scale_embedding", honoured, "", "`model.embedding_scale`"},
    {like_bart, "dropout", honoured, "", "`model.dropout`; may differ"},
    {like_bart, "attention_dropout", honoured, "", "`attention_dropout`; may differ"},
    {like_bart, "num_attention_heads", same, "encoder_attention_heads", ""},
    {like_bart, "hidden_size", same, "d_model", ""},
    {like_bart, "num_hidden_layers", same, "encoder_layers", ""},
    {like_bart, "normalize_before", equal, "[false]", ""},
    {like_bart, "add_final_layer_norm", equal, "[false]", ""},
    {like_bart, "add_bias_logits", equal, "[false]", ""},
    {"bart", "static_position_embeddings", equal, "[false]", ""},
    {"bart", "normalize_embedding", equal, "[true]", ""},
    {"marian", "static_position_embeddings", equal, "[true]", ""},
    {"marian", "normalize_embedding", equal, "[false]", ""},
    {"marian", "decoder_vocab_size", same, "vocab_size", ""},
    {"marian", "share_encoder_decoder_embeddings", equal, "[true]", ""},
    {like_bart, "extra_pos_embeddings", harmless, "", "no longer read there"},
    {"bart", "force_bos_token_to_be_generated", harmless, "", "no longer read there"},
    {"t5", "d_model", honoured, "", "`model.width`"},
    {"t5", "d_kv", honoured, "", "`head_size`"},
    {"t5", "d_ff", honoured, "", "`model.layer.feed_forward.hidden`"},
    {"t5", "num_layers", honoured, "", "`model.layers`"},
    {"t5", "num_decoder_layers", honoured, "", "`model.decoder.layers`"},
    {"t5", "num_heads", honoured, "", "`heads`"},
    {"t5", "relative_attention_num_buckets", honoured, "", "`buckets`"},
    {"t5", "relative_attention_max_distance", honoured, "", "`max_distance`"},
    {"t5", "feed_forward_proj", honoured, "", "type and `activation` of the feed-forward layer"},
    {"t5", "dense_act_fn", honoured, "", "must agree with `feed_forward_proj`"},
    {"t5", "is_gated_act", honoured, "", "must agree with `feed_forward_proj`"},
    {"t5", "layer_norm_epsilon", honoured, "", "`model.layer.norm.epsilon`"},
    {"t5", "dropout_rate", honoured, "", "`model.dropout` and `attention_dropout`; may differ"},
    {"t5", "n_positions", honoured, "", "`data.max_length` of an import"},
    {"t5", "hidden_size", same, "d_model", ""},
    {"t5", "num_hidden_layers", same, "num_layers", ""},
    {"t5", "num_attention_heads", same, "num_heads", ""},
    {"t5", "head_dim", same, "d_kv", ""},

    {all, "position_embedding_type", equal, R"(["absolute"])", ""},
    {encoders, "is_encoder_decoder", equal, "[false]", ""},
    {with_decoder, "is_encoder_decoder", equal, "[true]", ""},
    {"gpt2", "is_encoder_decoder", equal, "[false]", ""},
    {encoders, "is_decoder", equal, "[false]", ""},
    {with_decoder, "is_decoder", equal, "[false]", ""},
    {"gpt2", "is_decoder", harmless, "", "a GPT-2 is always a decoder"},
    {all, "add_cross_attention", equal, "[false]", ""},
    {all, "cross_attention_hidden_size", equal, "[]", ""},
    {all, "pruned_heads", equal, "[{}]", ""},
    {all, "quantization_config", equal, "[]", ""},
    {all, "compression_config", equal, "[]", ""},
    {all, "per_layer_config", equal, "[{}]", ""},
    {all, "auto_map", equal, "[{}]", "code in the folder is never run"},
    {"bert distilbert", "pad_token_id", harmless, "",
     "the number of the padding token, which is not used here"},
    {"roberta", "pad_token_id", honoured, "",
     "positions are counted from the number after it; must be the number of the token `<pad>`"},
    {"gpt2", "pad_token_id", harmless, "", "the number of the padding token, which is not used here"},
    {with_decoder, "pad_token_id", honoured, "", "see `decoder_start_token_id`"},
    {encoders, "bos_token_id", harmless, "", "markers are the tokens of the tokenizer"},
    {encoders, "eos_token_id", harmless, "", "likewise"},
    {encoders, "sep_token_id", harmless, "", "likewise"},
    {encoders, "cls_token_id", harmless, "", "likewise"},
    {encoders, "mask_token_id", harmless, "", "likewise"},
    {generating, "sep_token_id", harmless, "", "likewise"},
    {generating, "bos_token_id", honoured, "", "must be the token that opens a text here"},
    {generating, "eos_token_id", honoured, "", "must be the token that ends a text here"},
    {with_decoder, "decoder_start_token_id", honoured, "", "`task.target_start`"},
    {"bert roberta distilbert gpt2", "decoder_start_token_id", harmless, "",
     "only models with an encoder and a decoder use it"},

    {all, "hidden_dropout", training, "", ""},
    {all, "classifier_dropout", training, "", "`model.head.dropout`"},
    {like_bart, "classif_dropout", training, "", "`model.head.dropout`"},
    {"distilbert", "seq_classif_dropout", training, "", "`model.head.dropout`"},
    {"distilbert", "qa_dropout", training, "", ""},
    {"gpt2", "embd_pdrop", training, "", "`model.dropout`"},
    {like_bart, "activation_dropout", training, "", ""},
    {like_bart, "encoder_layerdrop", training, "", ""},
    {like_bart, "decoder_layerdrop", training, "", ""},
    {"roberta bert distilbert gpt2", "initializer_range", training, "",
     "initial weights, which the file replaces"},
    {like_bart, "init_std", training, "", "likewise"},
    {"t5", "initializer_factor", training, "", "likewise"},
    {all, "gradient_checkpointing", training, "", "`train.recompute`"},

    {all, "dtype", harmless, "",
     "weights are read as they are stored; `train.precision` says how a run computes"},
    {all, "torch_dtype", harmless, "", "likewise"},
    {all, "use_bfloat16", harmless, "", "likewise"},
    {all, "use_cache", harmless, "", "speed"},
    {all, "chunk_size_feed_forward", harmless, "", "memory"},
    {all, "attn_implementation", harmless, "", "speed"},
    {all, "_attn_implementation", harmless, "", "speed"},
    {all, "_attn_implementation_autoset", harmless, "", "speed"},
    {all, "experts_implementation", harmless, "", "speed"},
    {all, "output_attentions", harmless, "", "an output of a call"},
    {all, "output_hidden_states", harmless, "", "likewise"},
    {all, "output_past", harmless, "", "likewise"},
    {all, "tie_last_hidden_states", harmless, "", "likewise"},
    {all, "return_dict", harmless, "", "likewise"},
    {all, "use_return_dict", harmless, "", "likewise"},
    {all, "torchscript", harmless, "", "likewise"},
    {all, "tie_encoder_decoder", equal, "[false]", ""},
    {all, "tf_legacy_loss", harmless, "", ""},
    {all, "transformers_version", harmless, "", "a note"},
    {all, "_name_or_path", harmless, "", "a note"},
    {all, "name_or_path", harmless, "", "a note"},
    {all, "_commit_hash", harmless, "", "a note"},
    {all, "finetuning_task", harmless, "", "a note"},
    {all, "language", harmless, "", "a note"},
    {all, "tokenizer_class", honoured, "", "as in `tokenizer_config.json`, which has precedence"},
    {all, "task_specific_params", named, "[{}]", "prefixes and settings of generation for some tasks"},
    {all, "prefix", named, R"([""])", "pipelines put it in front of the text"},
    {"bert", "directionality", harmless, "", "of multilingual BERT, never read"},
    {"bert", "pooler_fc_size", harmless, "", "likewise"},
    {"bert", "pooler_num_attention_heads", harmless, "", "likewise"},
    {"bert", "pooler_num_fc_layers", harmless, "", "likewise"},
    {"bert", "pooler_size_per_head", harmless, "", "likewise"},
    {"bert", "pooler_type", harmless, "", "likewise"},
    {"bert roberta", "model_name", harmless, "", "a note"},
};

/// The row of an encoder for all settings of generation.
constexpr FieldRule of_encoders = {encoders, "(all of these)", harmless, "", "an encoder writes no text"};

/// The settings of generation, which are in config.json of old folders and in generation_config.json of newer
/// ones.
constexpr FieldRule generation_rules[] = {
    {generating, "bos_token_id", honoured, "", "must be the token that opens a text here"},
    {generating, "eos_token_id", honoured, "", "must be the token that ends a text here"},
    {generating, "pad_token_id", harmless, "", "fills the rows of a batch after a text that has ended"},
    {generating, "decoder_start_token_id", honoured, "", "must be that of `config.json`"},
    {"bart", "forced_bos_token_id", honoured, "",
     "must be the token `<s>`, with which each generated text begins here; another token is refused, and a "
     "notice says if the member is absent"},
    {"gpt2 marian t5", "forced_bos_token_id", equal, "[]", ""},
    {generating, "forced_eos_token_id", harmless, "",
     "the last token of a text that is cut at the largest length"},
    {generating, "max_length", named, "[20]", "`exp generate --max-tokens`"},
    {generating, "max_new_tokens", named, "[]", "`exp generate --max-tokens`"},
    {generating, "min_length", named, "[0]", ""},
    {generating, "min_new_tokens", named, "[]", ""},
    {generating, "early_stopping", named, "[true, false]", ""},
    {generating, "max_time", named, "[]", ""},
    {generating, "stop_strings", named, "[]", "`exp generate --stop`"},
    {generating, "do_sample", named, "[false]", ""},
    {generating, "num_beams", named, "[1]", ""},
    {generating, "num_beam_groups", named, "[1]", ""},
    {generating, "temperature", named, "[1, 1.0]", ""},
    {generating, "top_k", named, "[50]", ""},
    {generating, "top_p", named, "[1, 1.0]", ""},
    {generating, "top_h", named, "[]", ""},
    {generating, "min_p", named, "[]", ""},
    {generating, "typical_p", named, "[1, 1.0]", ""},
    {generating, "epsilon_cutoff", named, "[0, 0.0]", ""},
    {generating, "eta_cutoff", named, "[0, 0.0]", ""},
    {generating, "diversity_penalty", named, "[0, 0.0]", ""},
    {generating, "repetition_penalty", named, "[1, 1.0]", ""},
    {generating, "encoder_repetition_penalty", named, "[1, 1.0]", ""},
    {generating, "length_penalty", named, "[1, 1.0]", ""},
    {generating, "no_repeat_ngram_size", named, "[0]", ""},
    {generating, "encoder_no_repeat_ngram_size", named, "[0]", ""},
    {generating, "bad_words_ids", named, "[[[0]]]", "padding is never written here"},
    {generating, "force_words_ids", named, "[]", ""},
    {generating, "renormalize_logits", named, "[false, true]", ""},
    {generating, "constraints", named, "[]", ""},
    {generating, "exponential_decay_length_penalty", named, "[]", ""},
    {generating, "suppress_tokens", named, "[[]]", ""},
    {generating, "begin_suppress_tokens", named, "[[]]", ""},
    {generating, "sequence_bias", named, "[{}]", ""},
    {generating, "token_healing", named, "[false]", ""},
    {generating, "guidance_scale", named, "[1, 1.0]", ""},
    {generating, "low_memory", harmless, "", "memory"},
    {generating, "watermarking_config", named, "[]", ""},
    {generating, "num_return_sequences", named, "[1]", ""},
    {generating, "penalty_alpha", named, "[0, 0.0]", ""},
    {generating, "remove_invalid_values", harmless, "", ""},
    {generating, "dola_layers", named, "[]", ""},
    {generating, "use_cache", harmless, "", "speed"},
    {generating, "cache_implementation", harmless, "", "speed"},
    {generating, "cache_config", harmless, "", "speed"},
    {generating, "compile_config", harmless, "", "speed"},
    {generating, "disable_compile", harmless, "", "speed"},
    {generating, "output_scores", harmless, "", "an output of a call"},
    {generating, "output_logits", harmless, "", "likewise"},
    {generating, "output_attentions", harmless, "", "likewise"},
    {generating, "output_hidden_states", harmless, "", "likewise"},
    {generating, "return_dict_in_generate", harmless, "", "likewise"},
    {generating, "prefill_chunk_size", harmless, "", "memory"},
    {generating, "assistant_confidence_threshold", harmless, "", "speed"},
    {generating, "assistant_early_exit", harmless, "", "speed"},
    {generating, "assistant_lookbehind", harmless, "", "speed"},
    {generating, "is_assistant", harmless, "", "speed"},
    {generating, "max_matching_ngram_size", harmless, "", "speed"},
    {generating, "num_assistant_tokens", harmless, "", "speed"},
    {generating, "num_assistant_tokens_schedule", harmless, "", "speed"},
    {generating, "prompt_lookup_num_tokens", harmless, "", "speed"},
    {generating, "target_lookbehind", harmless, "", "speed"},
    {generating, "transformers_version", harmless, "", "a note"},
    {generating, "_from_model_config", harmless, "", "a note"},
    of_encoders,
};

constexpr const char* wordpieces = "bert distilbert";
constexpr const char* byte_pairs = "roberta gpt2 bart";
constexpr const char* sentencepieces = "marian t5";
constexpr const char* not_read = "not read there";

constexpr FieldRule tokenizer_config_rules[] = {
    {all, "tokenizer_class", honoured, "",
     "must be the class of the family, or (except for a MarianMT or T5) one that reads everything from "
     "`tokenizer.json`: `PreTrainedTokenizerFast`, `TokenizersBackend`"},
    {all, "auto_map", equal, "[{}]", "code in the folder is never run"},
    {wordpieces, "do_lower_case", honoured, "", "`tokenizer.lowercase`; true if it is absent"},
    {wordpieces, "strip_accents", honoured, "",
     "`tokenizer.strip_accents`; equal to `do_lower_case` if it is absent"},
    {wordpieces, "tokenize_chinese_chars", honoured, "", "`tokenizer.tokenize_chinese_chars`"},
    {wordpieces, "do_basic_tokenize", equal, "[true]", ""},
    {wordpieces, "never_split", equal, "[[]]", ""},
    {byte_pairs, "add_prefix_space", honoured, "", "`tokenizer.add_prefix_space`; may differ"},
    {byte_pairs, "do_lower_case", harmless, "", "not read there"},
    {byte_pairs, "errors", harmless, "", "the handling of invalid UTF-8 in written text"},
    {byte_pairs, "trim_offsets", harmless, "", "the reported places of tokens"},
    {sentencepieces, "sp_model_kwargs", equal, "[{}]", "options for random splits are refused"},
    {"marian", "separate_vocabs", equal, "[false]", ""},
    {"marian", "target_vocab_file", equal, "[]", ""},
    {"marian", "source_lang", harmless, "",
     "the package `sacremoses`, if it is installed there, uses it to normalize punctuation"},
    {"marian", "target_lang", harmless, "", "a note"},
    {"t5", "extra_ids", honoured, "", "number of gap tokens (`<extra_id_0>` and so on)"},
    {"t5", "legacy", harmless, "", "no longer read there"},
    {"t5", "unk_id", harmless, "", not_read},
    {all, "added_tokens_decoder", honoured, "",
     "`tokenizer.added_tokens`; for a MarianMT or T5, tokens that are not special are refused"},
    {all, "additional_special_tokens", honoured, "", "likewise; for a T5 they must include all gaps"},
    {all, "extra_special_tokens", honoured, "", "likewise"},
    {all, "unk_token", honoured, "", "must be the token that has the role here"},
    {all, "sep_token", honoured, "", "likewise"},
    {all, "pad_token", honoured, "", "likewise"},
    {all, "cls_token", honoured, "", "likewise"},
    {all, "mask_token", honoured, "", "likewise"},
    {all, "bos_token", honoured, "", "likewise"},
    {all, "eos_token", honoured, "", "likewise"},
    {all, "add_bos_token", equal, "[false]", ""},
    {all, "add_eos_token", equal, "[false]", ""},
    {all, "*_token", honoured, "",
     "any other member whose name ends in `_token`: a special token, as in `additional_special_tokens`"},
    {all, "split_special_tokens", equal, "[false]", ""},
    {all, "truncation_side", equal, R"(["right"])", ""},
    {all, "model_max_length", honoured, "",
     "`data.max_length` of an import, if it is smaller than the number of positions"},
    {"bert", "model_input_names", honoured, "", "must hold `token_type_ids`"},
    {"distilbert roberta gpt2 bart marian t5", "model_input_names", harmless, "",
     "the model has no segments"},
    {encoders, "clean_up_tokenization_spaces", harmless, "", "an encoder writes no text"},
    {generating, "clean_up_tokenization_spaces", named, "[false]",
     "blanks in front of punctuation stay here"},
    {all, "init_inputs", equal, "[[]]", ""},
    {all, "fast_tokenizer_files", equal, "[[]]", ""},
    {all, "padding_side", harmless, "", "there is no padding here"},
    {all, "pad_to_multiple_of", harmless, "", "likewise"},
    {all, "pad_token_type_id", harmless, "", "likewise"},
    {all, "max_length", harmless, "", "of a call; see `model_max_length`"},
    {all, "max_len", harmless, "", "likewise, no longer read there"},
    {all, "stride", harmless, "", "of a call"},
    {all, "truncation_strategy", harmless, "", "of a call"},
    {all, "truncation", harmless, "", "of a call"},
    {all, "padding", harmless, "", "of a call"},
    {all, "use_fast", harmless, "", ""},
    {all, "backend", harmless, "", ""},
    {all, "is_local", harmless, "", "a note"},
    {all, "local_files_only", harmless, "", "a note"},
    {all, "chat_template", harmless, "", "text is used unchanged"},
    {all, "response_template", harmless, "", "likewise"},
    {all, "chat_control_tokens", harmless, "", "likewise"},
    {all, "name_or_path", harmless, "", "a note"},
    {all, "_commit_hash", harmless, "", "a note"},
    {all, "special_tokens_map_file", harmless, "", "a note"},
    {all, "tokenizer_file", harmless, "", "a note"},
    {all, "vocab_file", harmless, "", "a note"},
    {all, "merges_file", harmless, "", "a note"},
    {all, "full_tokenizer_file", harmless, "", "a note"},
    {all, "processor_class", harmless, "", "a note"},
    {all, "transformers_version", harmless, "", "a note"},
};

constexpr FieldRule tokenizer_rules[] = {
    {all, "version", harmless, "", "a note"},
    {all, "truncation", harmless, "", "of a call"},
    {all, "padding", harmless, "", "of a call"},
    {all, "added_tokens", honoured, "", "as `added_tokens_decoder`, from which it must not differ"},
    {wordpieces, "normalizer", honoured, "",
     "must be a `BertNormalizer` with `clean_text`, whose other settings agree with `tokenizer_config.json`"},
    {wordpieces, "pre_tokenizer", honoured, "", "must be a `BertPreTokenizer`"},
    {wordpieces, "post_processor", honoured, "", "must be `[CLS] A [SEP]` and `[CLS] A [SEP] B [SEP]`"},
    {wordpieces, "decoder", harmless, "", "an encoder writes no text"},
    {wordpieces, "model", honoured, "",
     "must be a `WordPiece` with `[UNK]`, `##`, at most 100 characters per word, and the tokens of "
     "`vocab.txt`"},
    {byte_pairs, "normalizer", honoured, "", "must be null"},
    {byte_pairs, "pre_tokenizer", honoured, "",
     "must be a `ByteLevel` with `use_regex`; its `add_prefix_space` is used"},
    {byte_pairs, "post_processor", honoured, "",
     "must be `ByteLevel` for a GPT-2, otherwise `RobertaProcessing` or a template with the same effect"},
    {byte_pairs, "decoder", honoured, "", "must be a `ByteLevel`"},
    {byte_pairs, "model", honoured, "",
     "must be a `BPE` without `dropout`, `byte_fallback`, `ignore_merges`, prefix and suffix"},
    {"t5", "normalizer", honoured, "", "its `precompiled_charsmap` must be that of `spiece.model`"},
    {"t5", "model", honoured, "", "tokens and scores must be those of `spiece.model`"},
    {"marian", "normalizer", harmless, "", not_read},
    {"marian", "model", harmless, "", not_read},
    {sentencepieces, "pre_tokenizer", harmless, "", not_read},
    {sentencepieces, "post_processor", harmless, "", not_read},
    {sentencepieces, "decoder", harmless, "", not_read},
};

constexpr FieldRule special_tokens_rules[] = {
    {all, "*_token", honoured, "",
     "as in `tokenizer_config.json`; used only if that file has no `added_tokens_decoder`"},
    {all, "additional_special_tokens", honoured, "", "likewise"},
    {all, "extra_special_tokens", honoured, "", "likewise"},
};

constexpr FieldRule added_tokens_rules[] = {
    {all, "*", honoured, "",
     "a token and its number; used only if `tokenizer_config.json` has no `added_tokens_decoder`"},
};

constexpr FieldRule modules_rules[] = {
    {all, "Transformer", honoured, "", "must be the first module, with its files in the folder itself"},
    {all, "Pooling", honoured, "", "see `1_Pooling/config.json`"},
    {all, "Normalize", honoured, "", "`model.head.normalize = true`"},
    {all, "*", honoured, "", "any other module, such as `Dense`, is refused"},
};

constexpr FieldRule sentence_bert_rules[] = {
    {all, "max_seq_length", honoured, "", "`data.max_length` of an import"},
    {all, "do_lower_case", honoured, "",
     "`tokenizer.lowercase`; does not change how the tokenizer treats accents"},
    {all, "transformer_task", equal, R"(["feature-extraction"])", ""},
    {all, "modality_config", harmless, "", "only text is read"},
    {all, "module_output_name", equal, R"(["token_embeddings"])", ""},
    {all, "query_length", equal, "[]", ""},
    {all, "document_length", equal, "[]", ""},
    {all, "query_expansion", equal, "[]", ""},
    {all, "model_args", equal, "[{}]", ""},
    {all, "model_kwargs", equal, "[{}]", ""},
    {all, "tokenizer_args", equal, "[{}]", ""},
    {all, "processor_kwargs", equal, "[{}]", ""},
    {all, "processing_kwargs", equal, "[{}]", ""},
    {all, "config_args", equal, "[{}]", ""},
    {all, "config_kwargs", equal, "[{}]", ""},
    {all, "tokenizer_name_or_path", equal, "[]", ""},
    {all, "backend", harmless, "", "speed"},
    {all, "unpad_inputs", harmless, "", "speed"},
    {all, "model_name_or_path", harmless, "", "a note"},
};

constexpr FieldRule pooling_rules[] = {
    {all, "pooling_mode", honoured, "", "`cls` or `mean`: `model.head.pooling`; others are refused"},
    {all, "pooling_mode_cls_token", honoured, "", "`model.head.pooling = \"cls\"`"},
    {all, "pooling_mode_mean_tokens", honoured, "", "`model.head.pooling = \"mean\"`"},
    {all, "pooling_mode_max_tokens", equal, "[false]", ""},
    {all, "pooling_mode_mean_sqrt_len_tokens", equal, "[false]", ""},
    {all, "pooling_mode_weightedmean_tokens", equal, "[false]", ""},
    {all, "pooling_mode_lasttoken", equal, "[false]", ""},
    {all, "embedding_dimension", honoured, "", "must be the width of the model"},
    {all, "word_embedding_dimension", honoured, "", "likewise"},
    {all, "include_prompt", harmless, "", "there is no prompt here"},
};

constexpr FieldRule sentence_transformers_rules[] = {
    {all, "prompts", named, "[{}]", "the caller puts the prompt in front of the text"},
    {all, "default_prompt_name", equal, "[]", "a prompt in front of every text"},
    {all, "similarity_fn_name", harmless, "", "how vectors are compared"},
    {all, "truncate_dim", equal, "[]", ""},
    {all, "model_type", harmless, "", "a note"},
    {all, "__version__", harmless, "", "a note"},
};

struct RuledFile {
  const char* name;
  std::span<const FieldRule> rules;
};
constexpr RuledFile ruled_files[] = {
    {"config.json", config_rules},
    {"generation_config.json", generation_rules},
    {"tokenizer_config.json", tokenizer_config_rules},
    {"tokenizer.json", tokenizer_rules},
    {"special_tokens_map.json", special_tokens_rules},
    {"added_tokens.json", added_tokens_rules},
    {"modules.json", modules_rules},
    {"sentence_bert_config.json", sentence_bert_rules},
    {"1_Pooling/config.json", pooling_rules},
    {"config_sentence_transformers.json", sentence_transformers_rules},
};

constexpr auto file_names = [] {
  std::array<const char*, std::size(ruled_files)> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = ruled_files[i].name;
  return names;
}();

bool is_of(const FieldRule& rule, std::string_view family) {
  std::string_view families = rule.families;
  if (families.empty()) return true;
  while (!families.empty()) {
    const std::size_t blank = std::min(families.find(' '), families.size());
    if (families.substr(0, blank) == family) return true;
    families.remove_prefix(std::min(blank + 1, families.size()));
  }
  return false;
}

/// "*_token" stands for every name that ends so.
bool is_named(const FieldRule& rule, std::string_view name) {
  const std::string_view pattern = rule.name;
  return pattern == name || (pattern.starts_with('*') && name.ends_with(pattern.substr(1)));
}

bool accepts(const FieldRule& rule, const json& value) {
  const json accepted = parse_json(rule.accepted);
  return value.is_null() || std::ranges::find(accepted, value) != accepted.end();
}

/// Returns the accepted values: `false`, `"absolute"`; "absent" if no value is accepted.
std::string accepted_text(const FieldRule& rule, const char* quote = "") {
  std::string text;
  for (const json& value : parse_json(rule.accepted))
    text += (text.empty() ? "" : " or ") + std::string(quote) + value.dump() + quote;
  return text.empty() ? "absent or null" : text;
}

void check_field(const FieldRule& rule, const std::string& place, const json& object, const std::string& name,
                 const json& value, std::vector<std::string>& notices) {
  const std::string says = place + ": " + name + " is " + config::shortened(value.dump());
  if (rule.use == equal && !accepts(rule, value))
    throw Error(says + ", which is not supported; it must be " + accepted_text(rule));
  if (rule.use == same && !value.is_null()) {
    const auto other = object.find(rule.accepted);
    if (other == object.end() || *other != value)
      throw Error(says + ", and " + rule.accepted + ", which it is another name for, " +
                  (other == object.end() ? "is missing" : "is " + config::shortened(other->dump())) +
                  "; give both the same value");
  }
  if (rule.use == named && !accepts(rule, value))
    notices.push_back(says + " and is not taken over" +
                      (*rule.what == '\0' ? "" : std::string(": ") + rule.what));
}

std::string use_text(const FieldRule& rule) {
  switch (rule.use) {
    case honoured:
      return "honoured";
    case equal:
      return "must be " + accepted_text(rule, "`");
    case same:
      return "must be equal to `" + std::string(rule.accepted) + "`; both are names of one value";
    case harmless:
      return "changes no number";
    case training:
      return "counts in training only, not taken over";
    case named:
      break;
  }
  return "a notice names it";
}

}  // namespace

std::span<const char* const> files_with_rules() {
  return file_names;
}

std::span<const FieldRule> field_rules(std::string_view file) {
  const auto* found = std::ranges::find(ruled_files, file, &RuledFile::name);
  if (found == std::end(ruled_files)) throw std::logic_error("there are no rules for " + std::string(file));
  return found->rules;
}

const FieldRule* find_rule(std::string_view file, std::string_view family, std::string_view name) {
  const bool generates = file == ruled_files[1].name;
  for (const FieldRule& rule : field_rules(file)) {
    if (!is_named(rule, name)) continue;
    if (is_of(rule, family)) return &rule;
    if (generates && is_of(of_encoders, family)) return &of_encoders;
  }
  // Settings of generation are in the config.json of old folders.
  return file == ruled_files[0].name ? find_rule(ruled_files[1].name, family, name) : nullptr;
}

void check_fields(std::string_view file, const fs::path& path, std::string_view family, const json& object,
                  std::vector<std::string>& notices) {
  std::string unknown;
  for (const auto& [name, value] : object.items()) {
    if (const FieldRule* rule = find_rule(file, family, name))
      check_field(*rule, path.string(), object, name, value, notices);
    else
      unknown += (unknown.empty() ? "" : ", ") + config::shortened(name);
  }
  if (!unknown.empty()) notices.push_back(path.string() + ": " + unknown + ": unknown, and not taken over");
}

std::string field_table(std::string_view file) {
  std::string table = "| field | model types | effect |\n|---|---|---|\n";
  for (const FieldRule& rule : field_rules(file)) {
    const std::string what = use_text(rule) + (*rule.what == '\0' ? "" : std::string("; ") + rule.what);
    table += "| `" + std::string(rule.name) + "` | " + (*rule.families == '\0' ? "all" : rule.families) +
             " | " + what + " |\n";
  }
  return table;
}

}  // namespace encore::pretrained
