-- An environment has one chain of audit records, and also those of a database server that were copied to this file. Bits 30 to 39 of `seq`
-- are the number of the chain. New records continue the chain with the highest number, so the order of `seq` stays the order of time.
create table audit_heads_of_chains (
  environment_id text not null references environments (id),
  seq integer not null,
  hash blob not null check (length(hash) = 32),
  primary key (environment_id, seq)
) strict, without rowid;

insert into audit_heads_of_chains (environment_id, seq, hash) select environment_id, seq, hash from audit_heads;
drop table audit_heads;
alter table audit_heads_of_chains rename to audit_heads;

create table audit_archives_of_chains (
  environment_id text not null references environments (id),
  archived_seq integer not null,
  removed_seq integer not null,
  removed_hash blob not null check (length(removed_hash) = 32),
  primary key (environment_id, archived_seq),
  check (removed_seq <= archived_seq)
) strict, without rowid;

insert into audit_archives_of_chains (environment_id, archived_seq, removed_seq, removed_hash)
  select environment_id, archived_seq, removed_seq, removed_hash from audit_archives;
drop table audit_archives;
alter table audit_archives_of_chains rename to audit_archives;

-- The number of the newest migration that the program of the instance knows.
alter table instances add column schema_number integer not null default 3;

-- The number of the newest migration that a program must know to work with the database after this one; null if it is this one.
alter table migrations add column readable_from integer;
