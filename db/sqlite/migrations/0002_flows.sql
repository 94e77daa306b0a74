-- Ground for authorization links, refresh leases and jobs.

-- Two accounts of one person at one provider share the grant there: whoever revokes for one has to know of the other.
create index accounts_subject on accounts (connection_id, provider_subject) where provider_subject is not null;

-- One row for each authorization link. OPEN: the link can be used. PENDING_VERIFICATION: somebody has finished it, and what was
-- granted lies here, sealed and of no use, until the application has verified who it was. The rest are ends; nothing sealed is left.
-- No foreign key to the account: what was granted for one that is gone has still to be revoked.
create table auth_requests (
  id text primary key not null,
  environment_id text not null references environments (id),
  account_id text not null,
  connection_id text not null,
  state text not null check (state in ('OPEN', 'PENDING_VERIFICATION', 'CONSUMED', 'FAILED', 'EXPIRED')),
  link_digest blob not null check (length(link_digest) = 32),
  link_expires_at integer not null,
  request_digest blob check (request_digest is null or length(request_digest) = 32),
  identifier text not null,
  user_verify_url text,
  caller_state text,
  origins text not null default '[]' check (json_valid(origins)),
  wrapped_data_key blob,
  kek_id text references key_checks (kek_id),
  pending_sealed blob,
  mismatches integer not null default 0 check (mismatches >= 0),
  created_at integer not null,
  expires_at integer not null,
  ended_at integer,
  check ((wrapped_data_key is null) = (pending_sealed is null)),
  check ((kek_id is null) = (pending_sealed is null)),
  check ((state = 'PENDING_VERIFICATION') = (pending_sealed is not null)),
  check ((state in ('OPEN', 'PENDING_VERIFICATION')) = (ended_at is null))
) strict;

create unique index auth_requests_link on auth_requests (link_digest);
create unique index auth_requests_request on auth_requests (request_digest) where request_digest is not null;
create index auth_requests_account on auth_requests (account_id) where ended_at is null;
create index auth_requests_due on auth_requests (environment_id, expires_at) where ended_at is null;
create index auth_requests_ended on auth_requests (environment_id, ended_at) where ended_at is not null;
create index auth_requests_kek on auth_requests (kek_id) where kek_id is not null;

-- One row for each time that somebody left for a provider: what only their browser and we know, good for one return.
create table auth_flows (
  state_digest blob primary key not null check (length(state_digest) = 32),
  environment_id text not null references environments (id),
  request_id text not null references auth_requests (id) on delete cascade,
  connection_id text not null,
  browser_digest blob not null check (length(browser_digest) = 32),
  kept_sealed blob,
  created_at integer not null,
  expires_at integer not null,
  spent_at integer,
  check ((kept_sealed is null) = (spent_at is not null))
) strict, without rowid;

create index auth_flows_request on auth_flows (request_id);
create index auth_flows_expiry on auth_flows (environment_id, expires_at);

-- Who refreshes an account, or how its last refresh ended. A row stays as long as its account, so that `fencing` never goes back.
-- HELD: the lease of an owner. OPEN: a request went out with the credentials of `generation`, and how it ended is not known.
-- SETTLED: it is known; `generation` is the one it obtained, or the one that it left in place.
create table refresh_leases (
  account_id text primary key not null references accounts (id) on delete cascade,
  environment_id text not null references environments (id),
  fencing integer not null check (fencing >= 1),
  state text not null check (state in ('HELD', 'OPEN', 'SETTLED')),
  generation integer not null,
  owner text,
  expires_at integer,
  failures integer not null default 0 check (failures >= 0),
  last_failure text,
  retry_at integer,
  -- Of the account and its connection, as the last refresh found them: whoever corrects one of them need not wait for retry_at.
  versions text,
  check ((state = 'HELD') = (owner is not null)),
  check ((owner is null) = (expires_at is null))
) strict, without rowid;

create index refresh_leases_held on refresh_leases (environment_id) where state = 'HELD';

-- Work outside of the database, added by the transaction that causes it. WAITING: to be begun at run_at. RUNNING: the instance with the
-- number in owner works on it; if that instance is gone, the attempt has failed. DONE: it worked. FAILED: it was given up; the payload
-- is kept for some days, so that the job can be tried again. Jobs of one lane share a number of places.
create table jobs (
  id text primary key not null,
  environment_id text not null references environments (id),
  kind text not null,
  lane text not null,
  subject_id text,
  kek_id text references key_checks (kek_id),
  payload_sealed blob,
  state text not null check (state in ('WAITING', 'RUNNING', 'DONE', 'FAILED')),
  -- Attempts that were begun, since the job was added or tried again by a client.
  attempts integer not null default 0 check (attempts >= 0),
  run_at integer not null,
  give_up_at integer not null,
  owner integer,
  result text,
  reason text,
  created_at integer not null,
  updated_at integer not null,
  check ((kek_id is null) = (payload_sealed is null)),
  check (payload_sealed is null or state <> 'DONE'),
  check (payload_sealed is not null or state in ('DONE', 'FAILED')),
  check ((state = 'RUNNING') = (owner is not null)),
  check (result is null or state = 'DONE')
) strict;

create index jobs_due on jobs (kind, environment_id, lane, run_at) where state = 'WAITING';
create index jobs_running on jobs (owner) where state = 'RUNNING';
create index jobs_open on jobs (environment_id, id) where state <> 'DONE';
create index jobs_tally on jobs (kind, state, run_at) where state <> 'DONE';
create index jobs_list on jobs (environment_id, kind, id);
create index jobs_subject on jobs (subject_id, id);
create index jobs_ended on jobs (environment_id, updated_at) where state in ('DONE', 'FAILED');
create index jobs_kept on jobs (environment_id, updated_at) where state = 'FAILED' and payload_sealed is not null;
create index jobs_kek on jobs (kek_id) where kek_id is not null;

-- Work that one instance of the deployment does again and again. holder: the number of the instance that is doing it.
create table periodic_jobs (
  name text primary key not null,
  next_at integer not null,
  holder integer
) strict, without rowid;
