-- By which batch an answer came (batches.id); NULL where it was asked live.
ALTER TABLE calls ADD COLUMN batch TEXT;

-- Batches at endpoints. State: 'gathered' (not sent yet), 'sending' (whether the endpoint has it is not known), 'sent'
-- (it is there, under the id "remote"), 'ended' (its results are in).
CREATE TABLE batches (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    endpoint   TEXT NOT NULL,
    model      TEXT NOT NULL,
    state      TEXT NOT NULL,
    remote     TEXT,
    file       TEXT,
    calls      INTEGER NOT NULL DEFAULT 0,
    bytes      INTEGER NOT NULL DEFAULT 0,
    answered   INTEGER NOT NULL DEFAULT 0,
    created_at REAL NOT NULL,
    sent_at    REAL,
    ended_at   REAL,
    message    TEXT NOT NULL DEFAULT ''
) STRICT;

-- Calls that wait for a batch, or whose answer a batch brought and a run has not taken over yet. State: 'waiting',
-- 'answered', 'refused' (the result is an error), 'unanswered' (the batch ended without it: the next one asks again).
CREATE TABLE batch_calls (
    key        BLOB PRIMARY KEY,
    batch      INTEGER NOT NULL REFERENCES batches (number),
    place      INTEGER NOT NULL,
    pair       INTEGER NOT NULL,
    layer      INTEGER NOT NULL,
    state      TEXT NOT NULL,
    tries      INTEGER NOT NULL DEFAULT 1,
    tokens     INTEGER NOT NULL,
    price      REAL NOT NULL,
    max_tokens INTEGER NOT NULL,
    applied    TEXT NOT NULL DEFAULT '',
    line       BLOB,
    status     INTEGER,
    result     BLOB,
    earlier    BLOB
) STRICT;

CREATE UNIQUE INDEX batch_calls_by_batch ON batch_calls (batch, place);

-- Scores by token probabilities. An answer keeps the distributions of its two scores (JSON), or why there are none; a
-- call of a run the probabilities of its verdicts, where its scores come from, and the scores that its text gives
-- where those are expected ones. NULL where text was asked for.
ALTER TABLE calls ADD COLUMN likely TEXT;
ALTER TABLE run_calls ADD COLUMN scores_from TEXT;
ALTER TABLE run_calls ADD COLUMN share_a REAL;
ALTER TABLE run_calls ADD COLUMN share_tie REAL;
ALTER TABLE run_calls ADD COLUMN share_b REAL;
ALTER TABLE run_calls ADD COLUMN sampled_a REAL;
ALTER TABLE run_calls ADD COLUMN sampled_b REAL;

-- The pictures of pairs, by the SHA-256 of their files: a run can be read, and gone on with, when the files are gone.
CREATE TABLE pictures (
    hash  BLOB PRIMARY KEY,
    media TEXT NOT NULL,
    body  BLOB NOT NULL
) STRICT;
