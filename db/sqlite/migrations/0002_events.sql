-- Events, and their deliveries to webhook endpoints.

-- The `seq` of the last event of each environment. Emitting an event changes the row first, so events of one environment are committed in
-- the order of their `seq`, and a reader that goes on after a `seq` misses none.
create table event_heads (
  environment_id text primary key not null references environments (id),
  seq integer not null
) strict, without rowid;

-- Events that an endpoint takes, or that the environment keeps. The body is what is delivered; it contains no secret.
create table events (
  seq integer primary key not null,
  id text not null unique,
  environment_id text not null references environments (id),
  type text not null,
  subject_id text not null,
  body text not null check (json_valid(body)),
  created_at integer not null
) strict;

create index events_type on events (environment_id, type, seq);
create index events_subject on events (environment_id, subject_id, seq);
create index events_age on events (environment_id, created_at);

-- Signing secrets are derived from a secret of the deployment and the ids in `secrets`, so none is stored.
create table webhook_endpoints (
  id text primary key not null,
  environment_id text not null references environments (id),
  url text not null,
  description text not null,
  -- Empty: all events but those of executions.
  event_types text not null check (json_valid(event_types)),
  -- Whether events of one subject are delivered one after the other.
  ordered integer not null check (ordered in (0, 1)),
  algorithm text not null check (algorithm in ('HMAC_SHA256', 'ED25519')),
  -- The newest first; at most two.
  secrets text not null check (json_valid(secrets)),
  enabled integer not null check (enabled in (0, 1)),
  -- Why the endpoint was disabled, for people.
  disabled_reason text not null default '',
  -- The first failed attempt after the last one that worked.
  failing_since integer,
  created_at integer not null,
  updated_at integer not null
) strict;

create index webhook_endpoints_page on webhook_endpoints (environment_id, id);

-- One event on its way to one endpoint. PENDING: `job_id` makes the next attempt; without a job it waits for an earlier event of its
-- subject. The other columns describe the last attempt.
create table webhook_deliveries (
  id text primary key not null,
  environment_id text not null references environments (id),
  endpoint_id text not null,
  event_id text not null,
  event_seq integer not null,
  event_type text not null,
  subject_id text not null,
  state text not null check (state in ('PENDING', 'DELIVERED', 'FAILED')),
  job_id text,
  -- Attempts since the delivery was added or requested again.
  attempts integer not null check (attempts >= 0),
  next_attempt_at integer,
  -- As JSON: the request and the response of the last attempt.
  last_attempt text check (json_valid(last_attempt)),
  created_at integer not null,
  updated_at integer not null
) strict;

create index webhook_deliveries_list on webhook_deliveries (environment_id, id);
create index webhook_deliveries_endpoint on webhook_deliveries (endpoint_id, id);
create index webhook_deliveries_event on webhook_deliveries (event_id);
create index webhook_deliveries_open on webhook_deliveries (endpoint_id, subject_id, event_seq) where state = 'PENDING';
create index webhook_deliveries_age on webhook_deliveries (environment_id, created_at);
