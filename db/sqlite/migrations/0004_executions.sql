-- Bytes that are kept for a while: files that tools answered, and what single executions sent and got. Each is sealed under a data
-- key of its own, its name and type with it.
create table stored_contents (
  -- A file's own id, or the id of the execution.
  id text primary key not null,
  environment_id text not null references environments (id),
  kind text not null check (kind in ('file', 'execution')),
  -- Whose they are: gone with the account, usable by accounts of the same owner.
  account_id text not null,
  organization_id text not null default '',
  user_id text not null default '',
  size integer not null check (size >= 0),
  kek_id text not null references key_checks (kek_id),
  wrapped_data_key blob not null,
  sealed blob not null,
  created_at integer not null,
  expires_at integer not null
) strict;

create index stored_contents_account on stored_contents (account_id);
-- Sums up what the files of an environment take.
create index stored_contents_size on stored_contents (environment_id, kind, size);
create index stored_contents_expiry on stored_contents (environment_id, expires_at);
-- Finds what is older than a retention that was shortened.
create index stored_contents_age on stored_contents (environment_id, kind, created_at);
create index stored_contents_kek on stored_contents (kek_id);

create trigger stored_contents_of_account after delete on accounts begin
  delete from stored_contents where account_id = old.id;
end;
