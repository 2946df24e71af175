-- What people said, entered and never changed: taking a label back is an entry of its own (kind 'undo') that names it.
CREATE TABLE labels (
    id         INTEGER PRIMARY KEY,
    kind       TEXT NOT NULL,
    undoes     INTEGER REFERENCES labels (id),
    pair_id    ANY NOT NULL,
    content    BLOB NOT NULL,
    annotator  TEXT NOT NULL,
    said       TEXT NOT NULL,
    chosen     TEXT NOT NULL,
    swapped    INTEGER,
    seconds    REAL,
    at         REAL NOT NULL,
    within     TEXT,
    population INTEGER
) STRICT;

CREATE INDEX labels_by_pair ON labels (pair_id);
