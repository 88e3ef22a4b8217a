// SPDX-License-Identifier: BSD-3-Clause
// The table of all columns of the schema with their evidence, in the order of store/schema.sql, and the
// claims of a bundle that `exp bundle show` prints. A new column of the schema needs a row here;
// forged_bundle_test checks it. Read evidence.hpp first.
#include "bundle/evidence.hpp"

#include <map>

namespace encore::bundle {

namespace {

using enum Evidence;

// The parts of the event "started": those that data, settings and seed decide (runner/record_comparison.cpp
// compares them), and those that depend on machine and programs.
constexpr const char* started_facts =
    "json_remove(started_event, '$.time', '$.numeric_environment', '$.host', '$.build', '$.plugins', "
    "'$.threads', '$.pinning')";
constexpr const char* started_rest =
    "json_array(started_event -> '$.time', started_event -> '$.numeric_environment', started_event -> "
    "'$.host', started_event -> '$.build', started_event -> '$.plugins', started_event -> '$.threads', "
    "started_event -> '$.pinning')";
constexpr const char* of_machine =
    "EXISTS (SELECT 1 FROM spool_metric AS s JOIN measure ON measure.number = s.measure WHERE s.attempt = "
    "t.attempt AND s.metric = t.metric AND (description ->> 'unit' = 's' OR description ->> 'unit' "
    "LIKE '%/s'))";
constexpr const char* not_of_machine =
    "NOT EXISTS (SELECT 1 FROM spool_metric AS s JOIN measure ON measure.number = s.measure WHERE s.attempt "
    "= t.attempt AND s.metric = t.metric AND (description ->> 'unit' = 's' OR description ->> "
    "'unit' LIKE '%/s'))";
// SQL that shows the name or id of the row to which a reference refers; t is the table of the column.
constexpr const char* run_id = "(SELECT id FROM run WHERE run.number = t.run)";
constexpr const char* attempt_of_run =
    "(SELECT id || ' ' || ordinal FROM attempt AS a JOIN run ON run.number = a.run WHERE a.number = "
    "t.attempt)";
constexpr const char* metric_name = "(SELECT name FROM metric WHERE metric.number = t.metric)";
constexpr const char* sweep_name = "(SELECT name FROM sweep WHERE sweep.number = t.sweep)";
constexpr const char* search_name = "(SELECT name FROM search WHERE search.number = t.search)";
constexpr const char* describes =
    "key IN ('data.private', 'train.recompute', 'train.retrains', 'app.retrains')";
constexpr const char* decides =
    "key NOT IN ('data.private', 'train.recompute', 'train.retrains', 'app.retrains')";
constexpr const char* compared_event = "type IN ('checkpoint', 'artifact', 'result')";
constexpr const char* other_event = "type NOT IN ('started', 'checkpoint', 'artifact', 'result')";

// A value that only agrees with a spool is a claim if no training repeats it, since a spool can be forged
// too: ids, attempts, places in spools.
constexpr ColumnEvidence evidence_of_columns[] = {
    // Numbers of rows join tables; the reader's database assigns its own.
    {"sweep", "number", own},
    {"sweep", "name", claimed},
    {"sweep", "file", claimed},
    {"sweep", "content", claimed},
    {"sweep", "created", claimed},
    {"sweep", "context", claimed},

    {"origin", "number", own},
    {"origin", "kind", own},
    {"origin", "name", own},
    {"origin", "sha256", own},
    {"origin", "time", own},

    {"run", "number", own},
    {"run", "id", claimed},
    {"run", "name", claimed},
    {"run", "sweep", claimed, sweep_name},
    {"run", "question", recomputed},
    {"run", "group_id", recomputed},
    {"run", "backend", trained},
    {"run", "repeat", own},
    {"run", "seed", trained},
    {"run", "state", trained, "", "state = 'completed'"},
    {"run", "state", claimed, "", "state <> 'completed'"},
    {"run", "reason", claimed},
    {"run", "result", trained, "json_remove(result, '$.time')"},
    {"run", "result", claimed, "result ->> '$.time'"},
    {"run", "note", claimed},
    {"run", "created", claimed},
    {"run", "finished", claimed},
    {"run", "removed", claimed},
    {"run", "kind", recomputed},
    {"run", "origin", own},

    {"sweep_run", "sweep", claimed, sweep_name},
    {"sweep_run", "run", claimed, run_id},

    {"tag", "run", claimed, run_id},
    {"tag", "tag", claimed},

    {"param", "run", trained, run_id},
    {"param", "key", trained},
    {"param", "value", trained, "", decides},
    {"param", "value", claimed, "key || ' = ' || value", describes},
    {"param", "type", trained},
    {"param", "source", claimed},
    {"param", "at", claimed},

    {"dataset", "number", own},
    {"dataset", "sha256", trained},

    {"run_dataset", "run", trained, run_id},
    {"run_dataset", "role", trained},
    {"run_dataset", "dataset", trained, "(SELECT sha256 FROM dataset WHERE dataset.number = t.dataset)"},
    {"run_dataset", "path", claimed},

    {"host", "number", own},
    {"host", "description", claimed},

    {"source", "number", own},
    {"source", "commit_hash", claimed},
    {"source", "diff", claimed},
    {"source", "archive", claimed},
    {"source", "sha256", claimed},

    {"build", "number", own},
    {"build", "description", claimed},
    {"build", "source", claimed, "(SELECT commit_hash || sha256 FROM source WHERE source.number = t.source)"},

    {"code", "number", own},
    {"code", "commit_hash", claimed},
    {"code", "diff", claimed},

    {"plugin", "number", own},
    {"plugin", "name", claimed},
    {"plugin", "version", claimed},
    {"plugin", "sha256", claimed},
    {"plugin", "fingerprint", claimed},

    {"attempt", "number", own},
    {"attempt", "run", claimed, run_id},
    {"attempt", "ordinal", claimed},
    {"attempt", "state", claimed},
    {"attempt", "reason", claimed},
    {"attempt", "started", claimed},
    {"attempt", "finished", claimed},
    {"attempt", "first_step", claimed},
    {"attempt", "progress", claimed},
    {"attempt", "token", own},
    {"attempt", "expires", own},
    {"attempt", "expires_uptime", own},
    {"attempt", "host_name", claimed},
    {"attempt", "pid", claimed},
    {"attempt", "process_start", claimed},
    {"attempt", "boot_id", claimed},
    {"attempt", "environment", claimed},
    {"attempt", "started_event", trained, started_facts},
    {"attempt", "started_event", claimed, started_rest},
    {"attempt", "host", claimed, "(SELECT description FROM host WHERE host.number = t.host)"},
    {"attempt", "build", claimed, "(SELECT description FROM build WHERE build.number = t.build)"},
    {"attempt", "code", claimed, "(SELECT commit_hash FROM code WHERE code.number = t.code)"},
    {"attempt", "spool_bytes", claimed},
    {"attempt", "spool_records", claimed},
    {"attempt", "spool_problem", claimed},

    {"attempt_plugin", "attempt", claimed, "(SELECT ordinal FROM attempt WHERE attempt.number = t.attempt)"},
    {"attempt_plugin", "plugin", claimed,
     "(SELECT name || ' ' || sha256 FROM plugin WHERE plugin.number = t.plugin)"},

    {"metric", "number", own},
    {"metric", "name", trained},

    {"measure", "number", own},
    {"measure", "description", trained},

    {"spool_metric", "attempt", claimed, attempt_of_run},
    {"spool_metric", "number", claimed},
    {"spool_metric", "metric", trained, metric_name},
    {"spool_metric", "measure", trained,
     "(SELECT description FROM measure WHERE measure.number = t.measure)"},

    {"point", "run", trained, run_id},
    {"point", "metric", trained, metric_name},
    {"point", "step", trained},
    {"point", "attempt", claimed, attempt_of_run},
    {"point", "value", trained, "", not_of_machine},
    {"point", "value", claimed, "", of_machine},
    {"point", "special", trained},

    {"newest", "run", own},
    {"newest", "metric", own},
    {"newest", "step", own},
    {"newest", "attempt", own},
    {"newest", "value", own},
    {"newest", "special", own},
    {"newest", "points", own},
    {"newest", "least", own},
    {"newest", "greatest", own},

    {"checkpoint", "run", trained, run_id},
    {"checkpoint", "step", trained},
    {"checkpoint", "kind", claimed},
    {"checkpoint", "attempt", claimed, attempt_of_run},
    {"checkpoint", "path", claimed},
    {"checkpoint", "bytes", trained},
    {"checkpoint", "sha256", trained},
    {"checkpoint", "created", claimed},

    {"digest", "run", trained, run_id},
    {"digest", "step", trained},
    {"digest", "scope", trained},
    {"digest", "attempt", claimed, attempt_of_run},
    {"digest", "value", trained},

    {"artifact", "run", trained, run_id},
    {"artifact", "name", trained},
    {"artifact", "attempt", claimed, attempt_of_run},
    {"artifact", "path", claimed},
    {"artifact", "sha256", trained},
    {"artifact", "created", claimed},

    {"event", "attempt", claimed, attempt_of_run},
    {"event", "sequence", claimed},
    {"event", "time", claimed},
    {"event", "type", claimed},
    {"event", "body", trained, "json_remove(body, '$.time')", compared_event},
    {"event", "body", claimed, "json_remove(body, '$.time')", other_event},

    {"verification", "number", own},
    {"verification", "run", claimed, run_id},
    {"verification", "time", claimed},
    {"verification", "outcome", claimed},
    {"verification", "first_step", claimed},
    {"verification", "scope", claimed},
    {"verification", "details", claimed},
    {"verification", "origin", own},

    // A bundle has no benchmarks.
    {"bench", "number", own},
    {"bench", "name", own},
    {"bench", "file", own},
    {"bench", "created", own},
    {"bench", "settings", own},
    {"bench", "noise", own},
    {"bench_case", "number", own},
    {"bench_case", "bench", own},
    {"bench_case", "name", own},
    {"bench_case", "machine", own},
    {"bench_case", "settings", own},
    {"bench_case", "host", own},
    {"bench_case", "build", own},
    {"bench_case", "environment", own},
    {"bench_case", "facts", own},
    {"bench_sample", "bench_case", own},
    {"bench_sample", "quantity", own},
    {"bench_sample", "round", own},
    {"bench_sample", "seconds", own},

    {"search", "number", own},
    {"search", "name", claimed},
    {"search", "sweep", claimed, sweep_name},
    {"search", "identity", claimed},
    {"search", "backend", claimed},
    {"search", "settings", claimed},
    {"search", "space", claimed},
    {"search", "created", claimed},

    {"search_trial", "search", claimed, search_name},
    {"search_trial", "number", claimed},
    {"search_trial", "point", claimed},
    {"search_trial", "active", claimed},
    {"search_trial", "problem", claimed},
    {"search_trial", "excluded", claimed},

    {"search_run", "search", claimed, search_name},
    {"search_run", "trial", claimed},
    {"search_run", "run", claimed, run_id},
    {"search_run", "confirms", claimed},

    {"search_decision", "search", claimed, search_name},
    {"search_decision", "number", claimed},
    {"search_decision", "kind", claimed},
    {"search_decision", "trial", claimed},
    {"search_decision", "epochs", claimed},
    {"search_decision", "observations", claimed},
    {"search_decision", "limits", claimed},
    {"search_decision", "time", claimed},

    {"search_observation", "search", claimed, search_name},
    {"search_observation", "number", claimed},
    {"search_observation", "trial", claimed},
    {"search_observation", "epochs", claimed},
    {"search_observation", "outcome", claimed},
    {"search_observation", "scores", claimed},
    {"search_observation", "seconds", claimed},
    {"search_observation", "reason", claimed},
    {"search_observation", "time", claimed},

    // A bundle has no records of a server.
    {"served", "number", own},
    {"served", "run", own},
    {"served", "request", own},
    {"served", "text", own},
    {"served", "time", own},
    {"served", "seconds", own},
    {"served", "digest", own},
    {"served", "pieces", own},
    {"served", "unknown", own},
    {"served", "confidence", own},
    {"served", "distance", own},
    {"served", "labels", own},
    {"served_feedback", "run", own},
    {"served_feedback", "request", own},
    {"served_feedback", "text", own},
    {"served_feedback", "time", own},
    {"served_feedback", "correct", own},
    {"served_content", "run", own},
    {"served_content", "request", own},
    {"served_content", "text", own},
    {"served_content", "content", own},
    {"served_content", "answer", own},
    {"served_content", "truth", own},
    {"served_content", "expires", own},
    {"served_spool", "run", own},
    {"served_spool", "name", own},
    {"served_spool", "bytes", own},
    {"served_spool", "records", own},
};

/// Returns the SQL statement for the different values of a claimed part, each as one text.
std::string values_of(const ColumnEvidence& part) {
  const std::string value = *part.expression == '\0' ? part.column : part.expression;
  const std::string rows = *part.condition == '\0' ? "" : std::string(" WHERE ") + part.condition;
  return "SELECT value FROM (SELECT DISTINCT CAST((" + value + ") AS TEXT) AS value FROM " + part.table +
         " AS t" + rows + ") WHERE value IS NOT NULL AND value <> '' ORDER BY value";
}

}  // namespace

const char* name_of(Evidence evidence) {
  switch (evidence) {
    case recomputed:
      return "recomputed";
    case trained:
      return "trained";
    case claimed:
      return "claimed";
    case Evidence::own:
      break;
  }
  return "own";
}

std::span<const ColumnEvidence> column_evidence() {
  return evidence_of_columns;
}

std::vector<Claim> claims_of(store::Store& store, std::size_t most) {
  std::vector<Claim> claims;
  for (const ColumnEvidence& part : evidence_of_columns) {
    if (part.evidence != claimed) continue;
    Claim claim{.table = part.table, .column = part.column, .values = {}};
    store::Statement rows(store.database(), values_of(part));
    while (rows.step()) {
      ++claim.count;
      if (most == 0 || claim.values.size() < most) claim.values.push_back(rows.text(0));
    }
    if (claim.count > 0) claims.push_back(std::move(claim));
  }
  return claims;
}

}  // namespace encore::bundle
