// SPDX-License-Identifier: BSD-3-Clause
// exp verify: prints the verdicts of verifications of runs and searches. app/verify.cpp makes them; for a
// bundle, exp-report is called (bundle_verify.cpp, which uses VerifyScreen too). help_verb.cpp lists the
// verb. Scripts read the exit code (3: different) and the JSON, so both stay.
#include "app/planned_search.hpp"
#include "cli/components.hpp"
#include "cli/verify_screen.hpp"

namespace encore::cli {

namespace {

nlohmann::ordered_json json_of(const store::RunRow& run, const runner::VerificationOutcome& outcome,
                               bool kept) {
  const store::VerificationRow& verification = outcome.verification;
  using Json = nlohmann::ordered_json;
  return {{"run", run.name},
          {"id", run.id},
          {"outcome", verification.outcome},
          {"first_step", verification.first_step ? Json(*verification.first_step) : Json()},
          {"scope", verification.scope},
          {"time", verification.time},
          {"folder", kept ? Json(outcome.folder.string()) : Json()},
          {"details", verification.details}};
}

int run_verify_verb(const Arguments& arguments, Console& console) {
  return run_bound(app::verify_form(), arguments, console,
                   [&](const app::VerifyRequest& request, app::App& app, Console&) {
                     if (request.names_bundle()) become_component("verify", arguments);
                     store::Store store(app.database, store::OpenMode::write);
                     if (const auto search = app::named_search(store, request.selection.runs))
                       return write_search_verdict(console, store, *search, request.json);
                     const store::RunSelection selection = app::selection_from(request.selection);
                     const store::SelectedRuns selected = app::selected_runs(app, store, selection);
                     return VerifyScreen(request, console)
                         .run(app, store, selected.runs, app::asks_for_one(selection, selected));
                   });
}

}  // namespace

VerifyScreen::VerifyScreen(const app::VerifyRequest& request, Console& console)
    : request_(request), console_(console), lines_(console.out, console.terminal) {}

runner::RunObserver& VerifyScreen::verifies(const store::RunRow& run, const runner::Verifier& verifier) {
  display_ = std::make_unique<RunDisplay>("verifying " + run.name, console_, lines_, 0,
                                          request_.quiet || request_.json);
  display_->say("verifying " + run.name + "  " + std::to_string(verifier.digests()) + " digests of steps " +
                std::to_string(verifier.first_step()) + " to " + std::to_string(verifier.last_step()));
  return *display_;
}

void VerifyScreen::judged(const store::RunRow& run, const runner::VerificationOutcome& outcome) {
  display_.reset();
  lines_.hide();
  if (outcome.interrupted) {
    console_.noticed("the verification of " + run.name + " was stopped; there is no verdict");
  } else if (request_.json) {
    verdicts_.push_back(json_of(run, outcome, request_.keep));
  } else {
    console_.out << run.name << ' ' << verdict_text(outcome.verification) << '\n'
                 << verdict_details(outcome.verification);
    if (request_.keep) console_.out << "  trained in " << outcome.folder.string() << '\n';
    console_.out.flush();
  }
}

int VerifyScreen::run(const app::App& app, store::Store& store, const std::vector<store::RunRow>& runs,
                      bool one, const app::PlaceFiles& place) {
  int exit_code = exit_failed;
  try {
    const app::VerificationEnd end = app::verify_runs(request_, app, *this, store, runs, place);
    exit_code = end == app::VerificationEnd::equal       ? exit_done
                : end == app::VerificationEnd::different ? exit_different
                                                         : exit_interrupted;
  } catch (const app::WorkError& error) {
    display_.reset();
    lines_.hide();
    console_.noticed(error.what());
  }
  if (!verdicts_.empty()) console_.print(one ? verdicts_.front() : nlohmann::ordered_json(verdicts_));
  return exit_code;
}

int write_search_verdict(Console& console, store::Store& store, const store::SearchRow& row, bool json) {
  using Json = nlohmann::ordered_json;
  const app::SearchVerdict verdict = app::verify_search(store, row);
  const int exit_code = verdict.equal() ? exit_done : exit_different;
  if (json) {
    const auto& different = verdict.first_different;
    Json answer = {{"search", row.name},
                   {"outcome", verdict.equal() ? "equal" : "different"},
                   {"decisions", verdict.decisions},
                   {"observations", verdict.observations},
                   {"first_decision", different ? Json(*different + 1) : Json()},
                   {"observation", verdict.changed_observation}};
    if (different) {
      answer["stored"] = verdict.stored;
      answer["recomputed"] = verdict.recomputed;
    }
    console.print(answer);
    return exit_code;
  }
  console.out << row.name << "  ";
  if (verdict.first_different)
    console.out << "different  decision " << *verdict.first_different + 1 << "\n  stored      "
                << verdict.stored << "\n  recomputed  " << verdict.recomputed << ", of " << verdict.seen
                << " observations\n";
  else if (!verdict.equal())
    console.out << "different  " << verdict.changed_observation << '\n';
  else
    console.out << "equal  " << verdict.decisions << " decisions recomputed, of " << verdict.observations
                << " observations\n";
  return exit_code;
}

Verb verify_verb() {
  return {.name = "verify",
          .summary = "train a run again and compare it bit by bit",
          .run = run_verify_verb,
          .form = [] { return app::verify_form(); },
          .component = "exp-report"};
}

}  // namespace encore::cli
