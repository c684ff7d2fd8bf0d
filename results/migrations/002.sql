-- Schema 2: the speeds of a case that has several.

ALTER TABLE measurements ADD COLUMN modes INTEGER REFERENCES texts (id);  -- JSON; NULL: one speed
