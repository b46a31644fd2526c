-- The first schema. Times are microseconds since the epoch, flags 0 or 1, JSON is text.
CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
);

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  root TEXT NOT NULL,
  parent TEXT,
  title TEXT NOT NULL,
  title_key TEXT NOT NULL,
  source TEXT NOT NULL,
  principal TEXT NOT NULL,
  cwd TEXT NOT NULL,
  model TEXT NOT NULL,
  created BIGINT NOT NULL,
  updated BIGINT NOT NULL,
  last BIGINT NOT NULL,
  count BIGINT NOT NULL,
  input BIGINT NOT NULL,
  output BIGINT NOT NULL,
  cached BIGINT NOT NULL,
  written BIGINT NOT NULL,
  reasoning BIGINT NOT NULL,
  cost DOUBLE PRECISION NOT NULL,
  calls BIGINT NOT NULL
);
CREATE INDEX sessions_updated ON sessions (updated);
CREATE INDEX sessions_title ON sessions (title_key);

-- Apart from the session's row, which every message rewrites.
CREATE TABLE prompts (
  session TEXT PRIMARY KEY,
  system TEXT NOT NULL
);

CREATE TABLE messages (
  id {identity},
  session TEXT NOT NULL,
  seq BIGINT NOT NULL,
  role TEXT NOT NULL,
  at BIGINT NOT NULL,
  retracted BIGINT NOT NULL,
  body TEXT NOT NULL
);
CREATE UNIQUE INDEX messages_place ON messages (session, seq);

-- Bodies of deleted messages that the search index has yet to forget.
CREATE TABLE forgotten (
  n {identity},
  message BIGINT NOT NULL,
  session TEXT NOT NULL,
  principal TEXT NOT NULL,
  body TEXT NOT NULL
);

CREATE TABLE drafts (
  session TEXT NOT NULL,
  turn TEXT NOT NULL,
  n BIGINT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (session, turn, n)
);

CREATE TABLE inbox (
  n {identity},
  id TEXT NOT NULL UNIQUE,
  session TEXT NOT NULL,
  source TEXT NOT NULL,
  content TEXT NOT NULL,
  address TEXT NOT NULL,
  at BIGINT NOT NULL,
  turn TEXT NOT NULL
);
CREATE INDEX inbox_waiting ON inbox (session, n) WHERE turn = '';

CREATE TABLE outbox (
  n {identity},
  id TEXT NOT NULL UNIQUE,
  session TEXT NOT NULL,
  address TEXT NOT NULL,
  content TEXT NOT NULL,
  at BIGINT NOT NULL,
  state TEXT NOT NULL,
  attempts BIGINT NOT NULL,
  receipt TEXT NOT NULL,
  error TEXT NOT NULL
);
CREATE INDEX outbox_due ON outbox (at, n) WHERE state = 'due';

CREATE TABLE questions (
  n {identity},
  id TEXT NOT NULL UNIQUE,
  session TEXT NOT NULL,
  body TEXT NOT NULL,
  at BIGINT NOT NULL,
  expires BIGINT NOT NULL,
  answer TEXT NOT NULL,
  answered_by TEXT NOT NULL,
  answered BIGINT NOT NULL
);
CREATE INDEX questions_open ON questions (session, n) WHERE answered = 0;

CREATE TABLE leases (
  name TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  epoch BIGINT NOT NULL,
  until BIGINT NOT NULL
);
