-- One file per project. Texts are TEXT, or BLOB (UTF-8 with surrogates passed) where they hold lone surrogates.

CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- Parts of prompts that many calls share.
CREATE TABLE texts (
    id   INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    body ANY NOT NULL
) STRICT;

-- Answers, by the content of everything that determines them. Runs share them.
CREATE TABLE calls (
    id               INTEGER PRIMARY KEY,
    key              BLOB NOT NULL UNIQUE,
    endpoint         TEXT NOT NULL,
    model            TEXT NOT NULL,
    returned_model   TEXT,
    fingerprint      TEXT,
    form             TEXT NOT NULL,
    parameters       TEXT NOT NULL,
    system_id        INTEGER NOT NULL REFERENCES texts (id),
    shared_id        INTEGER NOT NULL REFERENCES texts (id),
    own              ANY NOT NULL,
    raw_text         ANY NOT NULL,
    thinking         ANY,
    finish_reason    TEXT NOT NULL,
    raw_finish       TEXT,
    tokens_in        INTEGER NOT NULL,
    tokens_out       INTEGER NOT NULL,
    tokens_cached    INTEGER NOT NULL,
    tokens_reasoning INTEGER NOT NULL,
    tokens_estimated INTEGER NOT NULL,
    price            REAL,
    latency_s        REAL NOT NULL,
    attempts         INTEGER NOT NULL,
    started_at       REAL NOT NULL
) STRICT;

CREATE TABLE runs (
    id          TEXT PRIMARY KEY,
    number      INTEGER NOT NULL UNIQUE,
    fingerprint TEXT NOT NULL,
    created_at  REAL NOT NULL,
    finished_at REAL,
    state       TEXT NOT NULL,
    message     TEXT NOT NULL DEFAULT '',
    record      TEXT NOT NULL
) STRICT;

-- Pairs by content and label, so that a run can be read without its files.
CREATE TABLE pairs (
    id   INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    body TEXT NOT NULL
) STRICT;

CREATE TABLE run_pairs (
    run         INTEGER NOT NULL,
    pair        INTEGER NOT NULL,
    pair_id     ANY NOT NULL,
    pair_row    INTEGER NOT NULL REFERENCES pairs (id),
    state       TEXT NOT NULL DEFAULT 'open',
    roles       TEXT,
    note        TEXT NOT NULL DEFAULT '',
    calls_total INTEGER,
    PRIMARY KEY (run, pair)
) STRICT, WITHOUT ROWID;

-- What each call of a run came to. call_id is NULL where there was no answer.
CREATE TABLE run_calls (
    run        INTEGER NOT NULL,
    pair       INTEGER NOT NULL,
    layer      INTEGER NOT NULL,
    neuron     INTEGER NOT NULL,
    ord        TEXT NOT NULL,
    sample     INTEGER NOT NULL,
    call_id    INTEGER REFERENCES calls (id),
    cached     INTEGER NOT NULL,
    status     TEXT NOT NULL,
    reason     TEXT,
    detail     TEXT NOT NULL DEFAULT '',
    verdict    TEXT,
    score_a    REAL,
    score_b    REAL,
    evidence   ANY,
    rule       TEXT NOT NULL DEFAULT '',
    role       ANY,
    missing    TEXT NOT NULL DEFAULT '',
    endpoint   TEXT NOT NULL,
    model      TEXT NOT NULL,
    attempts   INTEGER NOT NULL,
    started_at REAL NOT NULL,
    PRIMARY KEY (run, pair, layer, neuron, ord, sample)
) STRICT, WITHOUT ROWID;

-- What was learned about an endpoint and model.
CREATE TABLE learned (
    endpoint TEXT NOT NULL,
    model    TEXT NOT NULL,
    body     TEXT NOT NULL,
    PRIMARY KEY (endpoint, model)
) STRICT, WITHOUT ROWID;
