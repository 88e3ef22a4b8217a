-- Encore's database: everything that is known about runs, in one SQLite file. This file is its documentation.
--
-- Try:   sqlite3 encore.db "SELECT id, name, status FROM run_status"
--        sqlite3 encore.db "SELECT step, value FROM curve WHERE run = 'quickstart' AND metric = 'dev/f1'"
-- The views run_status, curve, setting and score keep their columns in later versions; tables may change.
--
-- Times are seconds since 1970 (UTC): datetime(created, 'unixepoch') reads them. Hashes are lower-case SHA-256.
-- JSON columns are read with ->>: SELECT environment ->> 'backend' FROM attempt.
-- Files are named relative to the run's folder, which lies beside the database: encore.db.runs/<run id>/.
-- A run is what was asked, an attempt is one process that worked on it; what an attempt did came through its spool,
-- attempt-0001.spool in the run's folder, and can be merged from there again.

PRAGMA application_id = 1162756946;  -- the letters ENCR: distinguishes this file from other SQLite databases
PRAGMA user_version = 10;            -- version of this schema; exp db upgrade raises it

-- One experiment file that was planned: a sweep, or a single run.
CREATE TABLE sweep (
  number   INTEGER PRIMARY KEY,
  name     TEXT NOT NULL,              -- `name` in the experiment file
  file     TEXT NOT NULL,              -- path of the experiment file, as it was given
  content  TEXT NOT NULL,              -- its text at that time
  created  REAL NOT NULL,
  -- What else has to be there to plan it again (JSON): {"bases": [{"file", "content"}, nearest first], "overrides": ["train.epochs=2"]},
  -- and "parents", like bases: the files of runs from which these start.
  context  TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(context))
) STRICT;

-- Where rows come from that another database recorded: what they say is a claim of the program that wrote
-- that database.
CREATE TABLE origin (
  number  INTEGER PRIMARY KEY,
  kind    TEXT NOT NULL CHECK (kind IN ('merge', 'bundle', 'foreign')),
                                       -- exp db merge of a database, or of a bundle; the record of another program
  name    TEXT NOT NULL,               -- of that file, without its folder
  sha256  TEXT NOT NULL,               -- of a bundle; empty for a database, whose file changes
  time    REAL NOT NULL,               -- when its rows came here
  UNIQUE (kind, name, sha256, time)
) STRICT;

-- One training that was asked for. (question, backend, repeat) says which: see docs/concepts/identity.md.
CREATE TABLE run (
  number    INTEGER PRIMARY KEY,       -- by which other tables refer to it; never shown
  id        TEXT NOT NULL UNIQUE,      -- ten hexadecimal digits, drawn at random; any unique beginning names the run
  name      TEXT NOT NULL UNIQUE,      -- `name` in the experiment file, with -2, -3 ... where it was taken
  sweep     INTEGER REFERENCES sweep (number),  -- the experiment file it comes from, the first that asked for it
  question  TEXT NOT NULL,             -- SHA-256 of the canonical experiment: settings, data, seed
  group_id  TEXT NOT NULL,             -- the same without the seed: runs with one group are replicates
  backend   TEXT NOT NULL,             -- openmp, cuda or hip
  repeat    INTEGER NOT NULL DEFAULT 1,  -- 2, 3 ... when the same question was trained afresh
  seed      INTEGER NOT NULL,          -- the bits of an unsigned number: negative from 2^63 on
  state     TEXT NOT NULL DEFAULT 'pending'
            CHECK (state IN ('pending', 'running', 'completed', 'failed', 'interrupted', 'lost', 'stopped', 'pruned')),
                                       -- as last written; ask run_status, which also sees runs that died silently
  reason    TEXT NOT NULL DEFAULT '',  -- why it is failed, interrupted, lost, stopped or pruned
  result    TEXT CHECK (result IS NULL OR json_valid(result)),  -- the run's answer: best step and scores (JSON), once there is one
  note      TEXT NOT NULL DEFAULT '',  -- `note` in the experiment file
  created   REAL NOT NULL,
  finished  REAL,                      -- when it was completed
  removed   REAL,                      -- when exp rm took it out of sight; exp undelete makes it NULL again
  kind      TEXT NOT NULL DEFAULT 'training' CHECK (kind IN ('training', 'application', 'foreign')),
                                       -- a model is trained, an application is fitted, another program did the work
  origin    INTEGER REFERENCES origin (number),  -- NULL: this database planned it and recorded its attempts
  UNIQUE (question, backend, repeat)
) STRICT;
CREATE INDEX run_by_group ON run (group_id);
CREATE INDEX run_by_sweep ON run (sweep);
CREATE INDEX run_by_state ON run (state);

-- Runs that an experiment file asks for and that were there already, from another one (run.sweep): they belong to both.
CREATE TABLE sweep_run (
  sweep  INTEGER NOT NULL REFERENCES sweep (number),
  run    INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
  PRIMARY KEY (sweep, run)
) STRICT, WITHOUT ROWID;
CREATE INDEX sweep_run_by_run ON sweep_run (run);

-- A word by which people find runs again: `tags` in the experiment file.
CREATE TABLE tag (
  run   INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
  tag   TEXT NOT NULL,
  PRIMARY KEY (run, tag)
) STRICT, WITHOUT ROWID;

-- Every setting of a run with its resolved value, defaults too.
CREATE TABLE param (
  run     INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
  key     TEXT NOT NULL,               -- path in the experiment file: model.layer.attention.heads
  value   ANY,                         -- number or text as it is; true and false as 1 and 0; a list as JSON
  type    TEXT NOT NULL CHECK (type IN ('boolean', 'integer', 'number', 'text', 'list', 'null')),
  source  TEXT NOT NULL,               -- default, file, sweep, command line
  at      TEXT NOT NULL DEFAULT '',    -- where it was written: wnut17.toml:14:3
  PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX param_by_value ON param (key, value);

-- A file with data or a vocabulary, known by its content.
CREATE TABLE dataset (
  number  INTEGER PRIMARY KEY,
  sha256  TEXT NOT NULL UNIQUE
) STRICT;

-- Which files a run reads.
CREATE TABLE run_dataset (
  run      INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
  role     TEXT NOT NULL,              -- train, dev, test, vocab
  dataset  INTEGER NOT NULL REFERENCES dataset (number),
  path     TEXT NOT NULL,              -- where the file lay when the run was planned
  PRIMARY KEY (run, role)
) STRICT, WITHOUT ROWID;

-- A machine that worked on runs.
CREATE TABLE host (
  number       INTEGER PRIMARY KEY,
  description  TEXT NOT NULL UNIQUE CHECK (json_valid(description))  -- JSON: name, CPU, GPU, memory ...
) STRICT;

-- Encore's own source, as the build of a worker recorded it (share/encore/source.json).
CREATE TABLE source (
  number       INTEGER PRIMARY KEY,
  commit_hash  TEXT NOT NULL,          -- empty: built without git
  diff         TEXT NOT NULL,          -- what differed from the commit, untracked source files too; empty: nothing
  archive      TEXT NOT NULL,          -- built without git: the name of the folder with the source; else empty
  sha256       TEXT NOT NULL,          -- built without git: of the source files (docs/reproducibility.md); else empty
  UNIQUE (commit_hash, diff, archive, sha256)
) STRICT;

-- A worker program: compiler, flags, library versions, source.
CREATE TABLE build (
  number       INTEGER PRIMARY KEY,
  description  TEXT NOT NULL CHECK (json_valid(description)),  -- JSON
  source       INTEGER REFERENCES source (number),  -- NULL: not recorded, as before version 10
  UNIQUE (description, source)
) STRICT;

-- The repository in which the experiment file lies, as far as git knows it. (Before version 10 it was taken for the source
-- of Encore as well, which it is where the experiment file lies in Encore's own repository.)
CREATE TABLE code (
  number       INTEGER PRIMARY KEY,
  commit_hash  TEXT NOT NULL,          -- empty where the file lies in no repository
  diff         TEXT NOT NULL,          -- what differed from that commit; empty for a clean tree
  UNIQUE (commit_hash, diff)
) STRICT;

-- A plugin file that was loaded.
CREATE TABLE plugin (
  number       INTEGER PRIMARY KEY,
  name         TEXT NOT NULL,
  version      TEXT NOT NULL,
  sha256       TEXT NOT NULL,          -- of the .so
  fingerprint  TEXT NOT NULL,          -- what it was built against
  UNIQUE (name, version, sha256, fingerprint)
) STRICT;

-- One process that worked on a run. A run has several when it was interrupted and resumed, or failed and tried again.
CREATE TABLE attempt (
  number         INTEGER PRIMARY KEY,  -- rises in time: of two attempts of a run the later has the higher number
  run            INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
  ordinal        INTEGER NOT NULL,     -- 1, 2 ... within the run: attempt-0001.spool
  state          TEXT NOT NULL DEFAULT 'running'
                 CHECK (state IN ('running', 'completed', 'failed', 'interrupted', 'lost', 'stopped')),
  reason         TEXT NOT NULL DEFAULT '',
  started        REAL NOT NULL,
  finished       REAL,
  first_step     INTEGER,              -- first step with a train/ point: from there on it overrules earlier attempts
  progress       TEXT CHECK (progress IS NULL OR json_valid(progress)),  -- last news: step, tokens per second, time left (JSON)
  -- The lease: who works on it. Past its end, or with that process gone, the attempt counts as lost.
  token          TEXT NOT NULL,        -- secret of the holder, checked before anything of a live attempt is written
  expires        REAL NOT NULL,        -- its end by the time of day, moved on with every heartbeat
  expires_uptime REAL NOT NULL DEFAULT 0,  -- its end in seconds since boot: what counts on the same boot, where no clock is set
  host_name      TEXT NOT NULL,
  pid            INTEGER NOT NULL,
  process_start  INTEGER NOT NULL,     -- start time of the process, so that a reused pid is noticed
  boot_id        TEXT NOT NULL,        -- so that a reboot is noticed
  -- Where the numbers come from.
  environment    TEXT CHECK (environment IS NULL OR json_valid(environment)),  -- numeric environment (JSON): equal ones give equal bits
  started_event  TEXT CHECK (started_event IS NULL OR json_valid(started_event)),  -- all that the worker told when it began (JSON), but for the diff of its source
  host           INTEGER REFERENCES host (number),
  build          INTEGER REFERENCES build (number),
  code           INTEGER REFERENCES code (number),
  -- How far its spool was merged.
  spool_bytes    INTEGER NOT NULL DEFAULT 0,
  spool_records  INTEGER NOT NULL DEFAULT 0,  -- sequence number of the last record
  spool_problem  TEXT NOT NULL DEFAULT '',    -- why merging stopped, where the file is damaged
  UNIQUE (run, ordinal)
) STRICT;
CREATE INDEX attempt_by_state ON attempt (state);

-- Plugins an attempt used.
CREATE TABLE attempt_plugin (
  attempt  INTEGER NOT NULL REFERENCES attempt (number) ON DELETE CASCADE,
  plugin   INTEGER NOT NULL REFERENCES plugin (number),
  PRIMARY KEY (attempt, plugin)
) STRICT, WITHOUT ROWID;

-- The name of something that is measured: train/loss, dev/f1, test/f1 ... Each attempt says what it means, in
-- spool_metric: for two tasks, or two versions of one, a name may mean two things.
CREATE TABLE metric (
  number  INTEGER PRIMARY KEY,
  name    TEXT NOT NULL UNIQUE         -- split/measure, and split/measure/key where there is one for each label
) STRICT;

-- What a metric means, as a worker says it (JSON): {"name": the measure of the task, f1, or f1/{label} of a family with one metric
-- for each label; "title": as people write it, F1; "unit": 1/s, tokens ...; "fraction": true: between 0 and 1, which people
-- read in percent; "better": higher or lower; missing: neither, as with a learning rate; "reducer": how it follows from what is
-- counted in the examples (statistics in the files of predictions): ratio, harmonic_mean ...; matrix: a table, which has no
-- points; opaque: it does not; "columns": of these statistics, in the order that the reducer wants}.
CREATE TABLE measure (
  number       INTEGER PRIMARY KEY,
  description  TEXT NOT NULL UNIQUE CHECK (json_valid(description))
) STRICT;

-- The numbers by which an attempt's spool names metrics, needed to continue merging in its middle, and what
-- it says of each.
CREATE TABLE spool_metric (
  attempt  INTEGER NOT NULL REFERENCES attempt (number) ON DELETE CASCADE,
  number   INTEGER NOT NULL,
  metric   INTEGER NOT NULL REFERENCES metric (number),
  measure  INTEGER REFERENCES measure (number),  -- NULL: nobody has said what it means
  PRIMARY KEY (attempt, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX spool_metric_by_metric ON spool_metric (metric, measure);

-- Every measured value, of every attempt. What counts after a resume is in current_point, with names in curve.
CREATE TABLE point (
  run      INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
  metric   INTEGER NOT NULL REFERENCES metric (number),
  step     INTEGER NOT NULL,           -- optimizer steps done
  attempt  INTEGER NOT NULL REFERENCES attempt (number) ON DELETE CASCADE,
  value    REAL,                       -- NULL exactly when `special` says what it was
  special  TEXT CHECK (special IN ('nan', 'inf', '-inf')),  -- SQLite cannot hold these as numbers
  PRIMARY KEY (run, metric, step, attempt),
  CHECK ((value IS NULL) = (special IS NOT NULL))
) STRICT, WITHOUT ROWID;

-- Of each metric of a run the newest point that counts, and figures over all that count: lists read it instead of
-- points. It follows from current_point; merging keeps it, exp db check compares it.
CREATE TABLE newest (
  run      INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
  metric   INTEGER NOT NULL REFERENCES metric (number),
  step     INTEGER NOT NULL,
  attempt  INTEGER NOT NULL REFERENCES attempt (number) ON DELETE CASCADE,
  value    REAL,                       -- as in point
  special  TEXT CHECK (special IN ('nan', 'inf', '-inf')),
  points   INTEGER NOT NULL,           -- how many count
  least    REAL,                       -- of the finite values; NULL: none is finite
  greatest REAL,
  PRIMARY KEY (run, metric),
  CHECK ((value IS NULL) = (special IS NOT NULL))
) STRICT, WITHOUT ROWID;

-- Weights, optimizer and counters on disk: a safetensors file.
CREATE TABLE checkpoint (
  run      INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
  step     INTEGER NOT NULL,
  kind     TEXT NOT NULL,              -- best, last, manual
  attempt  INTEGER NOT NULL REFERENCES attempt (number) ON DELETE CASCADE,
  path     TEXT NOT NULL,              -- in the run's folder
  bytes    INTEGER NOT NULL,
  sha256   TEXT NOT NULL,
  created  REAL NOT NULL,
  PRIMARY KEY (run, step, kind, attempt)
) STRICT, WITHOUT ROWID;                -- the file may be gone: only the newest best and the last are kept

-- Fingerprints of parameters and optimizer state: two trainings are the same when these are.
CREATE TABLE digest (
  run      INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
  step     INTEGER NOT NULL,           -- after so many updates
  scope    TEXT NOT NULL,              -- parameters, optimizer/first_moment; of the first steps each parameter's path too
  attempt  INTEGER NOT NULL REFERENCES attempt (number) ON DELETE CASCADE,
  value    TEXT NOT NULL,              -- hexadecimal: SHA-256, of a single parameter its first 16 digits
  PRIMARY KEY (run, step, scope, attempt)
) STRICT, WITHOUT ROWID;

-- A finished file of a run: predictions, vocabulary.
CREATE TABLE artifact (
  run      INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
  name     TEXT NOT NULL,
  attempt  INTEGER NOT NULL REFERENCES attempt (number) ON DELETE CASCADE,
  path     TEXT NOT NULL,              -- in the run's folder
  sha256   TEXT NOT NULL,
  created  REAL NOT NULL,
  PRIMARY KEY (run, name, attempt)
) STRICT, WITHOUT ROWID;

-- What an attempt reported, in order: started, log, checkpoint, artifact, result, finished; and five that exp
-- writes itself: plugin_change, when an attempt continues with another plugin file than the one before;
-- parent, when it starts from the weights of another run: {"run": its id, "name", "sha256"}, found by the
-- settings model.from.run (an id) and model.from.question; teacher, the same for the run that it learns from
-- (distil.teacher.run, distil.teacher.question); spool_damage, where its spool was found damaged or was
-- refused; and job_usage, what a scheduler's accounting says of the job that held it (store/job_usage.hpp).
-- (Progress is in attempt.progress, measurements and digests are in tables of their own.)
CREATE TABLE event (
  attempt   INTEGER NOT NULL REFERENCES attempt (number) ON DELETE CASCADE,
  sequence  INTEGER NOT NULL,          -- number of the record in the attempt's spool; from 0 downwards: written by exp itself
  time      REAL NOT NULL,
  type      TEXT NOT NULL,
  body      TEXT NOT NULL CHECK (json_valid(body)),  -- JSON
  PRIMARY KEY (attempt, sequence)
) STRICT, WITHOUT ROWID;

-- A training that was done again and compared, bit by bit.
CREATE TABLE verification (
  number      INTEGER PRIMARY KEY,
  run         INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
  time        REAL NOT NULL,
  outcome     TEXT NOT NULL CHECK (outcome IN ('equal', 'different', 'not comparable')),
  first_step  INTEGER,                 -- where the first difference is
  scope       TEXT NOT NULL DEFAULT '',  -- in which tensor, or in which block where no tensor is known
  details     TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(details)),
                                       -- JSON: what was compared and how, the environments, what differs
  origin      INTEGER REFERENCES origin (number)  -- NULL: it was done with this database
) STRICT;

-- A measurement of the machine, and mostly of a training step: exp bench.
CREATE TABLE bench (
  number    INTEGER PRIMARY KEY,
  name      TEXT NOT NULL UNIQUE,      -- --name, else that of the experiment, with -2, -3 ... where it was taken
  file      TEXT NOT NULL,             -- the experiment file, as it was given; empty: the machine alone
  created   REAL NOT NULL,
  settings  TEXT NOT NULL CHECK (json_valid(settings)),  -- rounds, batches, pinning (JSON)
  noise     TEXT NOT NULL CHECK (json_valid(noise))      -- steal, load, other processes meanwhile (JSON)
) STRICT;

-- One thing that it measured: a machine, or one configuration of a step.
CREATE TABLE bench_case (
  number       INTEGER PRIMARY KEY,
  bench        INTEGER NOT NULL REFERENCES bench (number) ON DELETE CASCADE,
  name         TEXT NOT NULL,          -- "openmp, 2 threads"; "float32, batch 32, openmp, 2 threads"
  machine      INTEGER NOT NULL CHECK (machine IN (0, 1)),
  settings     TEXT NOT NULL CHECK (json_valid(settings)),  -- backend, threads, precision, batch_size, length (JSON)
  host         INTEGER NOT NULL REFERENCES host (number),
  build        INTEGER NOT NULL REFERENCES build (number),
  environment  TEXT NOT NULL CHECK (json_valid(environment)),  -- numeric environment (JSON)
  facts        TEXT NOT NULL CHECK (json_valid(facts)),  -- known without a clock: operations, bytes, tokens, memory (JSON)
  UNIQUE (bench, name)
) STRICT;

-- Every sample: the mean seconds of one step (or of what the quantity names) in one round.
CREATE TABLE bench_sample (
  bench_case  INTEGER NOT NULL REFERENCES bench_case (number) ON DELETE CASCADE,
  quantity    TEXT NOT NULL,           -- step, matmul, gemm, kernel encore::layer_norm, triad ...
  round       INTEGER NOT NULL,        -- from 1; those of one round were taken within seconds of each other
  seconds     REAL NOT NULL,
  PRIMARY KEY (bench_case, quantity, round)
) STRICT, WITHOUT ROWID;

-- An experiment file with [search]: trials are proposed by what is known of earlier ones. Every decision can be made again
-- from these rows, which is what exp verify SEARCH does: docs/guides/search.md.
CREATE TABLE search (
  number    INTEGER PRIMARY KEY,
  name      TEXT NOT NULL UNIQUE,      -- `name` in the experiment file, with -2, -3 ... where it was taken
  sweep     INTEGER NOT NULL REFERENCES sweep (number),  -- the experiment file it comes from, as it was first
  identity  TEXT NOT NULL,             -- SHA-256 of `settings`, `space` and the experiment: which search this is
  backend   TEXT NOT NULL,
  settings  TEXT NOT NULL CHECK (json_valid(settings)),  -- method, seed, objectives, pruning ... (JSON)
  space     TEXT NOT NULL CHECK (json_valid(space)),     -- the variables with their laws, in order (JSON list)
  created   REAL NOT NULL,
  UNIQUE (identity, backend)
) STRICT;

-- A point of the space, trained with every seed of the experiment.
CREATE TABLE search_trial (
  search    INTEGER NOT NULL REFERENCES search (number) ON DELETE CASCADE,
  number    INTEGER NOT NULL,          -- from 0, in the order of the proposals
  point     TEXT NOT NULL CHECK (json_valid(point)),   -- by variable: the number, of a choice its place in the list (JSON list)
  active    TEXT NOT NULL CHECK (json_valid(active)),  -- by variable: whether [search.when] leaves it in the trial (JSON list)
  problem   TEXT NOT NULL DEFAULT '',  -- why it cannot be trained, where no run could be made of it
  excluded  INTEGER NOT NULL DEFAULT 0 CHECK (excluded IN (0, 1)),  -- whether `exclude` of [search] takes it out
  PRIMARY KEY (search, number)
) STRICT, WITHOUT ROWID;

-- The runs of a trial, one for each seed, and those of its confirmation, with fresh seeds.
CREATE TABLE search_run (
  search    INTEGER NOT NULL,
  trial     INTEGER NOT NULL,
  run       INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
  confirms  INTEGER NOT NULL DEFAULT 0 CHECK (confirms IN (0, 1)),
  PRIMARY KEY (search, trial, run),
  FOREIGN KEY (search, trial) REFERENCES search_trial (search, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX search_run_by_run ON search_run (run);

-- What was decided, in order: a trial is proposed, continues (promote), stays where it is (prune), or is
-- trained again with fresh seeds (confirm).
CREATE TABLE search_decision (
  search        INTEGER NOT NULL REFERENCES search (number) ON DELETE CASCADE,
  number        INTEGER NOT NULL,      -- from 1
  kind          TEXT NOT NULL CHECK (kind IN ('propose', 'promote', 'prune', 'confirm')),
  trial         INTEGER NOT NULL,
  epochs        INTEGER NOT NULL,      -- up to which it is trained; of prune: those it has
  observations  INTEGER NOT NULL,      -- how many were known: those with numbers up to this one
  limits        TEXT NOT NULL CHECK (json_valid(limits)),  -- trials, patience, hours, confirm, confirm_seeds at that time (JSON)
  time          REAL NOT NULL,
  PRIMARY KEY (search, number)
) STRICT, WITHOUT ROWID;

-- What became of a trial that was trained up to the epochs of a decision.
CREATE TABLE search_observation (
  search    INTEGER NOT NULL REFERENCES search (number) ON DELETE CASCADE,
  number    INTEGER NOT NULL,          -- from 1, in the order in which they were made
  trial     INTEGER NOT NULL,
  epochs    INTEGER NOT NULL,
  outcome   TEXT NOT NULL CHECK (outcome IN ('measured', 'complete', 'failed', 'repeated', 'confirmed')),
  scores    TEXT NOT NULL CHECK (json_valid(scores)),  -- by objective, the mean over its runs (JSON list; "nan", "inf", "-inf" as texts)
  seconds   REAL NOT NULL,             -- of training since the last observation of this trial, of all its runs
  reason    TEXT NOT NULL DEFAULT '',  -- why it failed; which trial it repeats
  time      REAL NOT NULL,
  PRIMARY KEY (search, number)
) STRICT, WITHOUT ROWID;

-- What exp serve --monitor keeps of the inputs that it has answered: numbers, not a word of them
-- (docs/guides/monitoring.md). Rows are in the order in which they were merged; those of one server are in
-- the order of its answers.
CREATE TABLE served (
  number      INTEGER PRIMARY KEY,
  run         INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
  request     TEXT NOT NULL,           -- X-Request-Id of its answer
  text        INTEGER NOT NULL,        -- its place in the request, from 0
  time        REAL NOT NULL,           -- of the answer
  seconds     REAL NOT NULL,           -- from the request's arrival to its answer
  digest      TEXT NOT NULL,           -- SHA-256 of the weights that answered
  pieces      INTEGER NOT NULL,        -- that the model has read
  unknown     INTEGER NOT NULL,        -- of them those that the vocabulary does not have
  confidence  REAL,                    -- mean probability of what was chosen; NULL: the model gives none
  distance    REAL,                    -- of its embedding from those of the reference; NULL: the model gives none
  labels      TEXT NOT NULL CHECK (json_valid(labels)),  -- how often the answer has each (JSON)
  UNIQUE (run, request, text)
) STRICT;

-- Whether an answer was right, by POST /v1/feedback; a later verdict on one input replaces an earlier one.
CREATE TABLE served_feedback (
  run      INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
  request  TEXT NOT NULL,
  text     INTEGER NOT NULL,
  time     REAL NOT NULL,
  correct  INTEGER NOT NULL CHECK (correct IN (0, 1)),
  PRIMARY KEY (run, request, text)
) STRICT, WITHOUT ROWID;

-- The inputs themselves, only of a server that was started with --monitor-texts. Removed once they have
-- expired, and by exp monitor RUN --forget REQUEST.
CREATE TABLE served_content (
  run      INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
  request  TEXT NOT NULL,
  text     INTEGER NOT NULL,
  content  TEXT,                       -- what was asked
  answer   TEXT CHECK (answer IS NULL OR json_valid(answer)),  -- what was answered (JSON)
  truth    TEXT CHECK (truth IS NULL OR json_valid(truth)),    -- what the feedback said (JSON)
  expires  REAL NOT NULL,
  PRIMARY KEY (run, request, text)
) STRICT, WITHOUT ROWID;

-- How far the spools of servers were merged: those that are still in the run's folder.
CREATE TABLE served_spool (
  run      INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
  name     TEXT NOT NULL,              -- of the file in the run's folder monitor
  bytes    INTEGER NOT NULL,
  records  INTEGER NOT NULL,           -- sequence number of the last record
  PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;

-- The points that count: a later attempt overrules an earlier one from its first step on, and wherever both have a value.
CREATE VIEW current_point AS
  SELECT run, metric, step, attempt, value, special
  FROM point
  WHERE NOT EXISTS (SELECT 1 FROM attempt AS later
                    WHERE later.run = point.run AND later.number > point.attempt AND later.first_step <= point.step)
    AND NOT EXISTS (SELECT 1 FROM point AS other
                    WHERE other.run = point.run AND other.metric = point.metric AND other.step = point.step
                      AND other.attempt > point.attempt);

-- The digests that count, by the same rule.
CREATE VIEW current_digest AS
  SELECT run, step, scope, attempt, value
  FROM digest
  WHERE NOT EXISTS (SELECT 1 FROM attempt AS later
                    WHERE later.run = digest.run AND later.number > digest.attempt AND later.first_step <= digest.step)
    AND NOT EXISTS (SELECT 1 FROM digest AS other
                    WHERE other.run = digest.run AND other.step = digest.step AND other.scope = digest.scope
                      AND other.attempt > digest.attempt);

-- current_point with names instead of numbers.
CREATE VIEW curve AS
  SELECT run.id AS id, run.name AS run, metric.name AS metric, step, value, special
  FROM current_point
  JOIN run ON run.number = current_point.run
  JOIN metric ON metric.number = current_point.metric;

-- What the metrics of a run mean: what its newest attempt says of each. (Beside max() SQLite takes the other columns from the row that has it.)
CREATE VIEW run_metric AS
  SELECT attempt.run AS run, spool_metric.metric AS metric, metric.name AS name, measure.description AS measure,
         spool_metric.number AS place, max(attempt.number) AS attempt
  FROM attempt
  JOIN spool_metric ON spool_metric.attempt = attempt.number
  JOIN metric ON metric.number = spool_metric.metric
  LEFT JOIN measure ON measure.number = spool_metric.measure
  GROUP BY attempt.run, spool_metric.metric;

-- Runs that are not removed, with their status as it is now. (A run whose process died seconds ago still shows as running here until its lease
-- expires; `exp ls` looks for the process as well.)
CREATE VIEW run_status AS
  SELECT run.id, run.name, run.backend, run.seed, run.repeat, run.group_id,
         CASE WHEN run.state = 'running' AND (attempt.expires IS NULL OR attempt.expires < julianday('now') * 86400.0 - 210866760000.0)
              THEN 'lost' ELSE run.state END AS status,
         run.reason, attempt.ordinal AS attempts, datetime(run.created, 'unixepoch') AS created_utc,
         datetime(run.finished, 'unixepoch') AS finished_utc, run.result, run.kind, origin.kind AS origin
  FROM run
  LEFT JOIN attempt ON attempt.number = (SELECT max(number) FROM attempt WHERE attempt.run = run.number)
  LEFT JOIN origin ON origin.number = run.origin
  WHERE run.removed IS NULL;

-- The settings of these runs; value and type as in param.
CREATE VIEW setting AS
  SELECT run.id AS id, run.name AS run, param.key AS key, param.value AS value, param.type AS type
  FROM param
  JOIN run ON run.number = param.run
  WHERE run.removed IS NULL;

-- The scores of their results: of the checkpoint that each has chosen. A value that is not finite is NULL.
CREATE VIEW score AS
  SELECT run.id AS id, run.name AS run, substr(measure.key, 1, instr(measure.key, '/') - 1) AS split,
         substr(measure.key, instr(measure.key, '/') + 1) AS metric, measure.value AS value
  FROM run
  JOIN json_each(run.result, '$.measures') AS measure
  WHERE run.removed IS NULL;
