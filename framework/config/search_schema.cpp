// SPDX-License-Identifier: BSD-3-Clause
// The options of the tables [sweep] and [search] of an experiment file. docs/reference/training_options.md is
// generated from them. Sweeps that are stored in databases have these options, so a default never changes.
// Read core_schema.hpp first.
#include "config/core_schema.hpp"

namespace encore::config {

namespace {

constexpr double most_draws = 100000;  // as many as a sweep has points (plan/sweep.hpp)

}  // namespace

const Schema& sweep_schema() {
  static const Schema schema =
      Schema()
          .integer("seed", 1, {.help = "seed of the random draws; independent of a run's seed", .min = 0})
          .integer("draws", 1,
                   {.help = "draws of the `[sweep.random]` options for each point of grid and zip",
                    .min = 1,
                    .max = most_draws})
          .text_list("exclude", {}, {.help = "conditions; a point that meets one of them is left out"});
  return schema;
}

const Schema& search_schema() {
  static const Schema schema =
      Schema()
          .choice("method", "tpe", {"tpe", "random", "quasi_random"},
                  {.help = "how points are proposed: `tpe` (by the results of earlier trials), `random`, or "
                           "`quasi_random` (a scrambled Halton sequence)"})
          .integer("trials", 20, {.help = "trials of the search", .min = 1, .max = most_draws})
          .text_list("objective", {},
                     {.help = "measures by which trials are judged, written as in `train.select`, such as "
                              "`min dev/loss`; default: the measure of `train.select`"})
          .integer("seed", 1, {.help = "seed of the proposals; independent of a run's seed", .min = 0})
          .integer("repeats", 1,
                   {.help = "train each trial with N seeds, beginning with the experiment's `seed`; trials "
                            "are judged by the mean",
                    .min = 1,
                    .max = 1000})
          .integer("startup", 10,
                   {.help = "`tpe`: points are drawn at random until N trials have a score", .min = 1})
          .integer("patience", 0,
                   {.help = "end after N complete trials without a better one; 0: never", .min = 0})
          .number(
              "hours", 0.0,
              {.help = "end after this total training time of all trials; 0: never", .unit = "h", .min = 0.0})
          .integer("confirm", 0,
                   {.help = "number of the best trials to train again at the end with fresh seeds, because "
                            "the best score is partly luck",
                    .min = 0,
                    .max = 1000})
          .integer("confirm_seeds", 5,
                   {.help = "`confirm`: fresh seeds of each trial; at least two, for an interval",
                    .min = 2,
                    .max = 1000})
          .choice("pruning", "none", {"none", "asha", "median"},
                  {.help = "how trials end early: `asha` (at each rung the best 1/eta continue), `median` (a "
                           "trial below the median of earlier ones ends), or `none`"})
          .integer("first_rung", 0,
                   {.help = "length of a trial at its first judgement, in epochs or steps; 0: one epoch, "
                            "or `train.evaluate_every` steps",
                    .min = 0})
          .integer("eta", 3,
                   {.help = "`asha`: one of eta trials continues, to eta times the length", .min = 2})
          .integer("interval", 0,
                   {.help = "`median`: length from one judgement of a trial to the next, in epochs or "
                            "steps; 0: one epoch, or `train.evaluate_every` steps",
                    .min = 0})
          .integer("comparisons", 5,
                   {.help = "`median`: number of trials that must reach a rung before one is pruned there",
                    .min = 1})
          .text_list("exclude", {}, {.help = "conditions; a point that meets one of them is not trained"});
  return schema;
}

}  // namespace encore::config
