#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes scores.json: random cases and their scores from scikit-learn and SciPy. pair_measures_test.cpp compares
framework/base/pair_measures.hpp with them. Run it by hand when a case is added; members keep their names:

    pip install scikit-learn scipy
    python make_scores.py > scores.json

Scores and numbers are rounded so that many are equal; some labels have one class only. Each function draws one case
and returns it with its scores.
"""
import json
import sys

import numpy
import scipy
import sklearn
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score, matthews_corrcoef, roc_auc_score

random = numpy.random.default_rng(7)


def ranked(count, digits):
    score = numpy.round(random.normal(size=count), digits)
    truth = (score + random.normal(size=count) > 0.3).astype(int)
    truth[:2] = [0, 1]
    return {"score": score.tolist(), "truth": truth.tolist(), "area": roc_auc_score(truth, score)}


def labelled(count, labels, digits):
    share = random.uniform(0.02, 0.4, size=labels)
    truth = (random.uniform(size=(count, labels)) < share).astype(int)
    truth[:, 0] = 0  # a label that no example has
    score = numpy.round(numpy.clip(0.4 * truth + random.uniform(0.0, 0.6, size=(count, labels)), 0, 1), digits)
    predicted = (score > 0.5).astype(int)
    both = [k for k in range(labels) if 0 < truth[:, k].sum() < count]
    return {
        "truth": truth.tolist(),
        "score": score.tolist(),
        "micro_f1": f1_score(truth, predicted, average="micro", zero_division=0),
        "macro_f1": f1_score(truth, predicted, average="macro", zero_division=0),
        "macro_auc": roc_auc_score(truth[:, both], score[:, both], average="macro"),
        "subset_accuracy": accuracy_score(truth, predicted),
        "auc": {str(k): roc_auc_score(truth[:, k], score[:, k]) for k in both},
    }


def correlated(count, digits):
    x = numpy.round(random.normal(size=count), digits)
    y = numpy.round(0.6 * x + random.normal(size=count), digits)
    return {"prediction": x.tolist(), "truth": y.tolist(), "spearman": spearmanr(x, y).statistic,
            "pearson": pearsonr(x, y).statistic}


def classified(count, classes):
    truth = random.integers(classes, size=count)
    predicted = numpy.where(random.uniform(size=count) < 0.6, truth, random.integers(classes, size=count))
    return {"truth": truth.tolist(), "predicted": predicted.tolist(), "mcc": matthews_corrcoef(truth, predicted),
            "macro_f1": f1_score(truth, predicted, average="macro", zero_division=0)}


def levels(count, most):
    truth = random.integers(1, most + 1, size=count)
    predicted = numpy.clip(truth + random.integers(-2, 3, size=count), 1, most)
    return {"truth": truth.tolist(), "prediction": predicted.tolist(),
            "kappa": cohen_kappa_score(truth, predicted, weights="quadratic")}


json.dump({
    "scikit-learn": sklearn.__version__,
    "scipy": scipy.__version__,
    "ranked": [ranked(n, d) for n, d in [(5, 0), (20, 1), (60, 1), (200, 2)]],
    "labelled": [labelled(n, k, d) for n, k, d in [(8, 3, 1), (40, 6, 1), (60, 9, 2)]],
    "correlated": [correlated(n, d) for n, d in [(4, 1), (25, 0), (80, 1), (120, 3)]],
    "classified": [classified(n, k) for n, k in [(6, 2), (40, 3), (150, 7)]],
    "levels": [levels(n, k) for n, k in [(6, 3), (40, 5), (150, 9)]],
}, sys.stdout, separators=(",", ":"))
print()
