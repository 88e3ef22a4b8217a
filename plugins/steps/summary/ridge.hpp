// SPDX-License-Identifier: BSD-3-Clause
// fit_ridge(): linear least squares with a penalty on the weights (ridge regression, Hoerl and Kennard 1970).
// ranker_choice.cpp fits the method `learned` with it. Stored knowledge has the weights, so a change needs a
// new version of the step.
#pragma once

#include <vector>

namespace encore::summary {

/// Returns the weights of the features and, as the last one, a constant, so that
/// sum(weight * feature) + constant is near the value of each row. Features are scaled to mean 0 and variance
/// 1 for the penalty, which is `penalty` for each weight and none for the constant; the weights are those of
/// the features as given. A feature that is equal in all rows gets the weight 0. There is at least one row,
/// and all rows have equally many features. `penalty` is above 0.
std::vector<double> fit_ridge(const std::vector<std::vector<double>>& rows, const std::vector<double>& values,
                              double penalty);

}  // namespace encore::summary
