-- Ground for authorization links, refresh leases and the outbox.

create table auth_requests (
  id text primary key not null,
  environment_id text not null references environments (id),
  account_id text not null,
  connection_id text not null,
  state text not null check (state in ('OPEN', 'STARTED', 'PENDING_VERIFICATION', 'CONSUMED', 'FAILED', 'EXPIRED')),
  link_digest blob not null check (length(link_digest) = 32),
  request_digest blob check (request_digest is null or length(request_digest) = 32),
  browser_digest blob check (browser_digest is null or length(browser_digest) = 32),
  identifier text not null,
  user_verify_url text,
  caller_state text,
  flow_sealed blob,
  pending_sealed blob,
  mismatches integer not null default 0 check (mismatches >= 0),
  version integer not null default 1,
  created_at integer not null,
  expires_at integer not null,
  consumed_at integer
) strict;

create unique index auth_requests_link on auth_requests (link_digest);
create unique index auth_requests_request on auth_requests (request_digest) where request_digest is not null;
create index auth_requests_account on auth_requests (account_id);
create index auth_requests_expiry on auth_requests (environment_id, expires_at);

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
  check ((state = 'HELD') = (owner is not null)),
  check ((owner is null) = (expires_at is null))
) strict, without rowid;

create table outbox (
  id text primary key not null,
  environment_id text not null references environments (id),
  kind text not null,
  subject_id text,
  payload_sealed blob,
  state text not null check (state in ('WAITING', 'DONE', 'FAILED')),
  attempts integer not null default 0 check (attempts >= 0),
  next_at integer not null,
  give_up_at integer not null,
  last_error text,
  created_at integer not null,
  updated_at integer not null
) strict;

create index outbox_due on outbox (next_at) where state = 'WAITING';
create index outbox_environment on outbox (environment_id, id);
