-- readable-from: 0012
-- One row, which PostgreSQL deletes when it recovers from a crash, and which a standby does not have. After a crash the
-- numbers of transactions that were lost are used again, so what pg_xact_status says of a number counts only if the row is the
-- same as before.
create unlogged table server_lives (
  one bigint primary key default 1 check (one = 1),
  life text collate "C" not null
);
