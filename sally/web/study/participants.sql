CREATE TABLE IF NOT EXISTS people (
    id TEXT PRIMARY KEY, study TEXT NOT NULL, given TEXT NOT NULL, cookie TEXT NOT NULL,
    number INTEGER NOT NULL, state TEXT NOT NULL, cell TEXT NOT NULL, design INTEGER NOT NULL,
    reverse INTEGER NOT NULL, pair TEXT NOT NULL DEFAULT '', seat TEXT NOT NULL DEFAULT '',
    waits DOUBLE PRECISION, bonus TEXT NOT NULL DEFAULT '', code TEXT NOT NULL DEFAULT '',
    joined DOUBLE PRECISION NOT NULL, seen DOUBLE PRECISION NOT NULL,
    finished DOUBLE PRECISION);
CREATE UNIQUE INDEX IF NOT EXISTS people_given ON people (study, given) WHERE given <> '';
CREATE UNIQUE INDEX IF NOT EXISTS people_cookie ON people (study, cookie);
CREATE TABLE IF NOT EXISTS people_steps (
    person TEXT NOT NULL, step TEXT NOT NULL, value TEXT NOT NULL,
    made DOUBLE PRECISION NOT NULL, PRIMARY KEY (person, step));
CREATE TABLE IF NOT EXISTS people_tables (
    person TEXT NOT NULL, round INTEGER NOT NULL, match TEXT NOT NULL, seat TEXT NOT NULL,
    PRIMARY KEY (person, round));
CREATE INDEX IF NOT EXISTS people_tables_match ON people_tables (match);
CREATE TABLE IF NOT EXISTS people_events (
    person TEXT NOT NULL, n INTEGER NOT NULL, page TEXT NOT NULL, kind TEXT NOT NULL,
    detail TEXT NOT NULL, made DOUBLE PRECISION NOT NULL, PRIMARY KEY (person, n));
CREATE TABLE IF NOT EXISTS people_chats (
    pair TEXT NOT NULL, round INTEGER NOT NULL, n INTEGER NOT NULL, person TEXT NOT NULL,
    text TEXT NOT NULL, made DOUBLE PRECISION NOT NULL, PRIMARY KEY (pair, round, n));
CREATE TABLE IF NOT EXISTS study_secrets (
    study TEXT PRIMARY KEY, salt TEXT NOT NULL, sign TEXT NOT NULL, design TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS study_exports (
    study TEXT PRIMARY KEY, made DOUBLE PRECISION NOT NULL);
CREATE TABLE IF NOT EXISTS study_withdrawn (
    study TEXT NOT NULL, participant TEXT NOT NULL, made DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (study, participant));
CREATE TABLE IF NOT EXISTS study_withdrawn_ids (
    study TEXT NOT NULL, mark TEXT NOT NULL, PRIMARY KEY (study, mark));
CREATE TABLE IF NOT EXISTS study_counts (
    study TEXT NOT NULL, what TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (study, what));
