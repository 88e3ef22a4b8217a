// The options of [sweep] and [search]. docs/reference/training_options.md is written from them.
#include "config/search_schema.hpp"

namespace encore {

namespace {

constexpr double most_draws = 100000;  // as many as a sweep has points (plan/sweep.hpp)

}  // namespace

const Schema& sweep_schema() {
  static const Schema schema =
      Schema()
          .integer("seed", 1, {.help = "where the random draws start; independent of a run's seed", .min = 0})
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
                  {.help = "who proposes points: `tpe` (by what earlier trials gave), `random`, or "
                           "`quasi_random` (a scrambled Halton sequence)"})
          .integer("trials", 20, {.help = "trials of the search", .min = 1, .max = most_draws})
          .text_list(
              "objective", {},
              {.help =
                   "what is searched for, written as `train.select` is, whose checkpoint is scored (default: "
                   "`train.select` itself); a list of several asks "
                   "for the trials that no other one beats in all of them"})
          .integer("seed", 1, {.help = "of the proposals; independent of a run's seed", .min = 0})
          .integer("repeats", 1,
                   {.help = "seeds of each trial, from the experiment's `seed` on; it is judged by the mean. "
                            "Or name them: `seeds`",
                    .min = 1,
                    .max = 1000})
          .integer("startup", 10,
                   {.help = "`tpe`: trials with a score before it leaves random draws", .min = 1})
          .integer("patience", 0,
                   {.help = "end after so many complete trials without a better one; 0: never", .min = 0})
          .number("hours", 0.0,
                  {.help = "end when the trials have been trained for so many hours, all together; 0: never",
                   .unit = "h",
                   .min = 0.0})
          .integer(
              "confirm", 0,
              {.help = "so many of the best trials are trained again at the end, with seeds that no trial "
                       "had: what they are worth beyond luck",
               .min = 0,
               .max = 1000})
          .integer(
              "confirm_seeds", 5,
              {.help = "`confirm`: so many fresh seeds of each; two at least, so that there is an interval",
               .min = 2,
               .max = 1000})
          .choice(
              "pruning", "none", {"none", "asha", "median"},
              {.help = "who ends trials early: `asha` (at each rung the best 1/eta go on), `median` (who is "
                       "worse than the median of those before does not go on), or nobody"})
          .integer(
              "first_rung", 0,
              {.help = "epochs before a trial is judged for the first time, or steps where the experiment "
                       "is as long as `train.steps`; 0: one epoch, or `train.evaluate_every` steps",
               .min = 0})
          .integer("eta", 3,
                   {.help = "`asha`: one of so many trials goes on, to so many times the length", .min = 2})
          .integer("interval", 0, {.help = "`median`: the same, from one judgement to the next", .min = 0})
          .integer("comparisons", 5,
                   {.help = "`median`: so many trials must have come to a rung before one is pruned there",
                    .min = 1})
          .text_list("exclude", {}, {.help = "conditions; a point that meets one of them is not trained"});
  return schema;
}

}  // namespace encore
