#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes bleu_tokenizers.json for text_scores_test.cpp: inputs with their tokens by each of sacreBLEU's
tokenizers, and corpora with the BLEU by each of them. Run it by hand; the result is committed.

    pip install sacrebleu
    python3 make_bleu_tokenizers.py > bleu_tokenizers.json

One input has a character of each Unicode category on each side of punctuation, so that a wrong range is
noticed; the others are the corpora of make_text_scores.py, and examples in several scripts.
"""
import json
import random

from make_text_scores import CHOSEN, random_corpora
from sacrebleu.metrics import BLEU

TOKENIZERS = ["13a", "intl", "char", "zh"]
TEXTS = [
    "我想去北京。你呢？(是的)", "2024年3月5日,价格是1,234.5元。", "他说:“你好—世界…”", "ＡＢＣ，１２３！", "日本語のテキスト。カタカナ、ﾊﾝｶｸ",
    "한국어 문장입니다. 1,000원", "สวัสดีครับ 123", "Привет, мир! №5 – «да»", "¿Qué? ¡1.5€!", "a.b 1.b a.1 1.1 1.. ..1 .", "٣,١٤ ३.१४ Ⅷ.½",
    "x²+y²≠∞ ©2020™ 😀.👍", "…—“”‘’•", "㐀\U00020000\U0002f800⼀⿰㆐㈠㌀︐☀✀⩬⩭⩮⾁⾂", "naïve.e\u0301,ß", "  blanks\u3000at\u00a0both ends \n",
    "-5 5-6 a-b 1 -", "&quot;x&quot; &amp; <skipped>", "",
]
CORPORA = [
    (["我想去北京。"], ["我要去北京。"]),
    (["2024年3月5日,价格是1,234.5元。", "你好"], ["2024年3月6日,价格是1,234.5元。", "你好吗"]),
    (["Привет, мир! №5 – «да»"], ["Привет, мир! №6 – «да»"]),
    (["日本語の文章。これは"], ["日本語の文章。それは"]),
]


def bleu(written, references, tokenizer):
    return BLEU(tokenize=tokenizer).corpus_score(written, [references]).score / 100


def main():
    rng = random.Random(46)
    corpora = CORPORA + CHOSEN + list(random_corpora(rng, 40))
    cut = {name: BLEU(tokenize=name).tokenizer for name in TOKENIZERS}
    print(json.dumps({
        "texts": [{"text": text, **{name: cut[name](text.rstrip()).split() for name in TOKENIZERS}} for text in TEXTS],
        "corpora": [{"written": written, "references": references, **{name: bleu(written, references, name) for name in TOKENIZERS}}
                    for written, references in corpora]}, ensure_ascii=False, indent=0))


if __name__ == "__main__":
    main()
