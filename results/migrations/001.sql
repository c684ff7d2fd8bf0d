-- Schema 1 of an etalon results file.
--
-- A migration is run once, in one transaction that also sets PRAGMA user_version to its number. It
-- is never edited after a release: a change is a new file, 002.sql.
--
-- Text that repeats from night to night (reasons, provider descriptions, methods) stands once, in
-- `texts`; a NULL reference is the empty text. A NULL number is "unknown". Times are in the unit of
-- the column's name; instants are UTC, ISO 8601.

CREATE TABLE environments (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    device_kind TEXT NOT NULL,
    gpu TEXT NOT NULL,
    sm_count INTEGER NOT NULL,
    memory_bytes INTEGER NOT NULL,
    vbios TEXT NOT NULL,
    driver TEXT NOT NULL,
    cuda_runtime TEXT NOT NULL,
    cublas TEXT NOT NULL,
    cudnn TEXT NOT NULL,
    power_limit_w REAL NOT NULL,
    ecc TEXT NOT NULL,
    mig TEXT NOT NULL,
    host_cpu TEXT NOT NULL,
    os TEXT NOT NULL,
    etalon_version TEXT NOT NULL,
    method INTEGER NOT NULL,
    reference_clock_mhz REAL NOT NULL,
    extra TEXT NOT NULL                 -- JSON object of texts
) STRICT;

CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    environment INTEGER NOT NULL REFERENCES environments (id),
    started_at TEXT NOT NULL,
    finished_at TEXT NOT NULL,          -- empty while running
    state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'interrupted')),
    suite TEXT NOT NULL,
    device TEXT NOT NULL,
    revision TEXT NOT NULL,
    host_name TEXT NOT NULL,
    tag TEXT NOT NULL,
    options TEXT NOT NULL,              -- JSON
    floor_ns REAL NOT NULL,
    quantum_ns REAL NOT NULL
) STRICT;

CREATE TABLE cases (
    id INTEGER PRIMARY KEY,
    case_id TEXT NOT NULL UNIQUE        -- op/precision/axes/provider[+variant]/l2
) STRICT;

-- What a run set out to measure. The index by case is the key; `position` is the order.
CREATE TABLE plan (
    run INTEGER NOT NULL REFERENCES runs (id),
    case_key INTEGER NOT NULL REFERENCES cases (id),
    position INTEGER NOT NULL,
    PRIMARY KEY (run, case_key)
) STRICT, WITHOUT ROWID;

-- `hash` is FNV-1a of the text: an index on it is a tenth of one on long JSON texts.
CREATE TABLE texts (
    id INTEGER PRIMARY KEY,
    hash INTEGER NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE INDEX texts_by_hash ON texts (hash);

CREATE TABLE measurements (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (id),
    case_key INTEGER NOT NULL REFERENCES cases (id),
    repeat INTEGER NOT NULL,            -- 0, 1, ... within the run and case
    status TEXT NOT NULL CHECK (status IN ('ok', 'unsupported', 'failed', 'incorrect')),
    reason INTEGER REFERENCES texts (id),
    sample_count INTEGER NOT NULL,
    time_ns REAL,
    time_lo_ns REAL,
    time_hi_ns REAL,
    norm_time_ns REAL,
    norm_lo_ns REAL,
    norm_hi_ns REAL,
    elasticity REAL,
    elasticity_lo REAL,
    elasticity_hi REAL,
    clock_mhz REAL NOT NULL,            -- 0: could not be read
    flop REAL NOT NULL,
    bytes_min REAL NOT NULL,
    power_w REAL,
    temperature_c REAL,
    reported_clock_mhz REAL,
    memory_clock_mhz REAL,
    event_reasons INTEGER,              -- 64 bits
    other_processes INTEGER,
    ecc_errors INTEGER,
    method INTEGER REFERENCES texts (id),
    stop_reason INTEGER REFERENCES texts (id),
    description INTEGER REFERENCES texts (id),
    distribution INTEGER REFERENCES texts (id),
    seed INTEGER NOT NULL,              -- 64 bits, unsigned
    error REAL,                         -- NULL: not a number
    wall_ms REAL NOT NULL,
    measured_at TEXT NOT NULL,
    samples BLOB                        -- harness/store/samples_codec.h; NULL: none
) STRICT;
CREATE UNIQUE INDEX measurements_by_run ON measurements (run, case_key, repeat);

CREATE TABLE ratios (
    run INTEGER NOT NULL REFERENCES runs (id),
    case_key INTEGER NOT NULL REFERENCES cases (id),
    baseline_key INTEGER NOT NULL REFERENCES cases (id),
    repeat INTEGER NOT NULL,
    ratio REAL NOT NULL,                -- baseline time / our time
    lo REAL NOT NULL,
    hi REAL NOT NULL,
    PRIMARY KEY (run, case_key, baseline_key, repeat)
) STRICT, WITHOUT ROWID;
