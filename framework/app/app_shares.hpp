// SPDX-License-Identifier: BSD-3-Clause
// AppShares: how one file of labelled requests is divided among the model of an application, the fit of its
// step `decide`, and the test set; PromiseSize: whether the fit has enough requests for its promise. Pure
// functions, by the same exact bound as `decide` (encore/binomial.hpp). app_from_file.cpp calls them. The
// rules may change: they are written into the user's file once. Read next: app_files.hpp.
#pragma once

#include <cstdint>

namespace encore::app {

/// The shares add up to 1. The model chooses its checkpoint by a part of its own share.
struct AppShares {
  double train = 0.0;       ///< trains the model
  double checkpoint = 0.0;  ///< chooses its checkpoint
  double fit = 0.0;         ///< the development set of the application
  double test = 0.0;        ///< 0 if the user has a file of its own for it

  /// Returns the share of the model, which the application calls its training set.
  double model() const { return train + checkpoint; }
};

/// Returns shares for a number of records and a promise about errors. The fit gets what comfortable_size()
/// says, between a fifth and two fifths of the records, and the test set a fifth.
AppShares shares_for(std::int64_t records, double error, bool has_test_file);

/// app.fit of the files: the share of the development set that `decide` is fitted on. The measures of the
/// rest are a first look; the test set measures the application.
inline constexpr double fitted_share = 0.8;

/// What `records` in the development set of an application can promise with 95 % confidence. `decide` uses
/// fitted_share of them for its fit, and two thirds of these for the bound.
struct PromiseSize {
  std::int64_t records = 0;
  std::int64_t bound = 0;         ///< requests that test the thresholds
  std::int64_t most_errors = -1;  ///< wrong answers among them that keep the promise; -1: none keep it
  std::int64_t least_bound = 0;   ///< requests without a mistake that keep the promise
};
PromiseSize promise_size(std::int64_t records, double error);

/// Returns the number of records in the development set with which the promise holds although 10 of
/// the answers are wrong and a fifth of the requests get no answer.
std::int64_t comfortable_size(double error);

}  // namespace encore::app
