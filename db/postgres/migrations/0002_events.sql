-- Events, and their deliveries to webhook endpoints.

-- The `seq` of the last event of each environment. Emitting an event changes the row first, so events of one environment are committed in
-- the order of their `seq`, and a reader that goes on after a `seq` misses none.
create table event_heads (
  environment_id text collate "C" primary key not null references environments (id),
  seq bigint not null
);

-- Events that an endpoint takes, or that the environment keeps. The body is what is delivered; it contains no secret.
create table events (
  seq bigint primary key not null,
  id text collate "C" not null unique,
  environment_id text collate "C" not null references environments (id),
  type text collate "C" not null,
  subject_id text collate "C" not null,
  body text collate "C" not null,
  created_at bigint not null
);

create index events_type on events (environment_id, type, seq);
create index events_subject on events (environment_id, subject_id, seq);
create index events_age on events (environment_id, created_at);

-- Signing secrets are derived from a secret of the deployment and the ids in `secrets`, so none is stored.
create table webhook_endpoints (
  id text collate "C" primary key not null,
  environment_id text collate "C" not null references environments (id),
  url text collate "C" not null,
  description text collate "C" not null,
  -- Empty: all events but those of executions.
  event_types text collate "C" not null,
  -- Whether events of one subject are delivered one after the other.
  ordered bigint not null check (ordered in (0, 1)),
  algorithm text collate "C" not null check (algorithm in ('HMAC_SHA256', 'ED25519')),
  -- The newest first; at most two.
  secrets text collate "C" not null,
  enabled bigint not null check (enabled in (0, 1)),
  -- Why the endpoint was disabled, for people.
  disabled_reason text collate "C" not null default '',
  -- The first failed attempt after the last one that worked.
  failing_since bigint,
  created_at bigint not null,
  updated_at bigint not null
);

create index webhook_endpoints_page on webhook_endpoints (environment_id, id);

-- One event on its way to one endpoint. PENDING: `job_id` makes the next attempt; without a job it waits for an earlier event of its
-- subject. The other columns describe the last attempt.
create table webhook_deliveries (
  id text collate "C" primary key not null,
  environment_id text collate "C" not null references environments (id),
  endpoint_id text collate "C" not null,
  event_id text collate "C" not null,
  event_seq bigint not null,
  event_type text collate "C" not null,
  subject_id text collate "C" not null,
  state text collate "C" not null check (state in ('PENDING', 'DELIVERED', 'FAILED')),
  job_id text collate "C",
  -- Attempts since the delivery was added or requested again.
  attempts bigint not null check (attempts >= 0),
  next_attempt_at bigint,
  -- As JSON: the request and the response of the last attempt.
  last_attempt text collate "C",
  created_at bigint not null,
  updated_at bigint not null
);

create index webhook_deliveries_list on webhook_deliveries (environment_id, id);
create index webhook_deliveries_endpoint on webhook_deliveries (endpoint_id, id);
create index webhook_deliveries_event on webhook_deliveries (event_id);
create index webhook_deliveries_open on webhook_deliveries (endpoint_id, subject_id, event_seq) where state = 'PENDING';
create index webhook_deliveries_age on webhook_deliveries (environment_id, created_at);
