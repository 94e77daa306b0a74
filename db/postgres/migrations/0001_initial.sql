-- The schema of release 0.1.0, as in db/sqlite/migrations. Times are integer milliseconds UTC, JSON is text, sealed bytes are bytea,
-- booleans are 0 or 1. Text is compared by its bytes, as in SQLite.
--
-- Tables that grow (accounts, executions) have a `seq`: the environment's ordinal above bit 40, a number of a sequence below. So the rows
-- of one environment are one range of the table and of each index that ends in `seq`, nearly in the order of creation. Numbers can be
-- missing, and a row with a lower number can become visible after one with a higher number.
--
-- No row is written by every transaction, because transactions that write the same row wait for each other or are run again. Counts are
-- therefore the sum of any number of rows; fold_counts() joins them.

create extension if not exists pg_trgm;
create extension if not exists btree_gin;

create table environments (
  id text collate "C" primary key not null,
  ordinal bigint not null unique check (ordinal between 1 and 8191),
  kind text collate "C" not null check (kind in ('DEVELOPMENT', 'PRODUCTION')),
  base_url text collate "C" not null,
  settings text collate "C" not null,
  created_at bigint not null
);

create table environment_hosts (
  host text collate "C" constraint environment_hosts_host primary key not null,
  environment_id text collate "C" not null references environments (id)
);

create index environment_hosts_environment on environment_hosts (environment_id);

create table key_checks (
  kek_id text collate "C" primary key not null,
  check_value bytea not null,
  created_at bigint not null
);

create table api_clients (
  id text collate "C" primary key not null,
  environment_id text collate "C" not null references environments (id),
  name text collate "C" not null,
  scopes text collate "C" not null,
  enabled bigint not null default 1 check (enabled in (0, 1)),
  generation bigint not null default 1 check (generation >= 1),
  created_at bigint not null,
  updated_at bigint not null
);

create index api_clients_page on api_clients (environment_id, id);

create table api_client_secrets (
  id text collate "C" primary key not null,
  environment_id text collate "C" not null references environments (id),
  client_id text collate "C" not null references api_clients (id) on delete cascade,
  digest bytea not null check (length(digest) = 32),
  prefix text collate "C" not null,
  created_at bigint not null,
  expires_at bigint
);

create index api_client_secrets_client on api_client_secrets (client_id);

create table custom_providers (
  id text collate "C" primary key not null,
  environment_id text collate "C" not null references environments (id),
  identifier text collate "C" not null,
  definition text collate "C" not null,
  is_mcp bigint not null default 0 check (is_mcp in (0, 1)),
  version bigint not null default 1,
  created_at bigint not null,
  updated_at bigint not null
);

create unique index custom_providers_identifier on custom_providers (environment_id, identifier);

create table connections (
  id text collate "C" primary key not null,
  environment_id text collate "C" not null references environments (id),
  key_id text collate "C" not null,
  provider_key text collate "C" not null,
  type text collate "C" not null,
  status text collate "C" not null check (status in ('DRAFT', 'IN_PROGRESS', 'COMPLETED')),
  enabled bigint not null default 1 check (enabled in (0, 1)),
  organization_id text collate "C" not null default '',
  organization_name text collate "C" not null default '',
  domains text collate "C" not null default '[]',
  client_id text collate "C",
  data_key bigint,
  kek_id text collate "C" references key_checks (kek_id),
  client_secret_sealed bytea,
  -- Incremented whenever the client is replaced. It and the binding are authenticated with the secret.
  client_generation bigint not null default 0 check (client_generation >= 0),
  client_binding text collate "C",
  scopes text collate "C" not null default '[]',
  allowed_tools text collate "C",
  allowed_addresses text collate "C",
  mcp_timeout_seconds bigint check (mcp_timeout_seconds is null or mcp_timeout_seconds > 0),
  verification_mode text collate "C" not null default 'REQUIRED',
  post_user_verify_redirect_url text collate "C",
  settings text collate "C" not null default '{}',
  version bigint not null default 1,
  created_at bigint not null,
  updated_at bigint not null,
  check ((data_key is null) = (client_secret_sealed is null)),
  check ((kek_id is null) = (client_secret_sealed is null))
);

create unique index connections_key_id on connections (environment_id, key_id);
create unique index connections_page on connections (environment_id, id);
create index connections_provider on connections (environment_id, provider_key);
create index connections_kek on connections (kek_id) where kek_id is not null;

-- The wrapped data keys of sealed values. A row of another table has the slot of its key, whose row triggers delete with it. There is no
-- foreign key, because each such deletion would look for the other rows with the slot. What is sealed opens no more without its data key.
-- wrapped: the length of the key in one byte, the key, and zeros.
create table data_keys (
  slot bigint primary key not null,
  used bigint not null check (used in (0, 1)),
  wrapped bytea not null check (length(wrapped) = 128)
);

create index data_keys_free on data_keys (used) where used = 0;
create sequence data_keys_slot;

create table accounts (
  seq bigint primary key not null,
  id text collate "C" not null,
  environment_id text collate "C" not null,
  connection_id text collate "C" not null,
  connector text collate "C" not null,
  provider text collate "C" not null,
  organization_id text collate "C" not null default '',
  user_id text collate "C" not null default '',
  identifier text collate "C" not null,
  authorization_type text collate "C" not null,
  status text collate "C" not null check (status in ('ACTIVE', 'EXPIRED', 'PENDING_AUTH', 'PENDING_VERIFICATION', 'DISCONNECTED')),
  status_reason text collate "C",
  token_expires_at bigint,
  last_used_at bigint,
  api_config text collate "C" not null default '{}',
  public_details text collate "C",
  origins text collate "C" not null default '[]',
  -- Further values that the credential is bound to. They are authenticated with it, like its origins.
  binding text collate "C" not null default '{"base":null,"use":"","fields":{},"issued":null,"endpoints":[]}',
  provider_subject text collate "C",
  data_key bigint,
  kek_id text collate "C" references key_checks (kek_id),
  credentials_sealed bytea,
  temporary_sealed bytea,
  credential_generation bigint not null default 0 check (credential_generation >= 0),
  -- The folded identifier. The key and the provider of a connection are searched in connections.
  search_text text collate "C" not null,
  version bigint not null default 1,
  created_at bigint not null,
  updated_at bigint not null,
  check ((data_key is null) = (kek_id is null)),
  check (strpos(identifier || connector || provider, chr(10)) = 0),
  foreign key (environment_id, connection_id) references connections (environment_id, id)
);

create unique index accounts_id on accounts (id);
-- A connection belongs to one environment, so this is unique within the environment too.
create unique index accounts_identity on accounts (connection_id, identifier, organization_id, user_id);
create index accounts_connection on accounts (connection_id, seq, status);
create index accounts_provider on accounts (provider, seq, status);
create index accounts_organization on accounts (organization_id, seq, status) where organization_id <> '';
create index accounts_user on accounts (user_id, seq) where user_id <> '';
create index accounts_identifier on accounts (identifier, seq);
create index accounts_status on accounts (status, seq);
create index accounts_kek on accounts (kek_id, seq) where kek_id is not null;
alter table accounts set (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02);
create sequence accounts_seq;

-- The number of accounts of a connection in each status: the sum of its rows. A row is added by each change.
create table account_counts (
  connection_id text collate "C" not null,
  status text collate "C" not null,
  total bigint not null
);

create index account_counts_key on account_counts (connection_id, status);

-- Substring search of identifiers. The environment is in the index, because a small one would otherwise read the matches of large ones.
create table accounts_search (
  seq bigint primary key not null,
  environment_id text collate "C" not null,
  search_text text collate "C" not null
);

create index accounts_search_text on accounts_search using gin (environment_id, search_text gin_trgm_ops)
  with (gin_pending_list_limit = 512);

-- Removed accounts. Ids are never used again, late writers are rejected, and page tokens keep their place.
create table account_tombstones (
  id text collate "C" primary key not null,
  environment_id text collate "C" not null references environments (id),
  seq bigint not null,
  generation bigint not null,
  deleted_at bigint not null
);

-- The processes that serve this database. When a row is missing, its process has ended, and another one ends what it had begun.
-- Numbers are never used twice.
create table instances (
  number bigint primary key not null,
  id text collate "C" not null unique,
  version text collate "C" not null,
  started_at bigint not null,
  beat_at bigint not null
);

create sequence instances_number;

create table executions (
  seq bigint primary key not null,
  id text collate "C" not null,
  environment_id text collate "C" not null references environments (id),
  -- No foreign key: the record of an execution survives its account and its client.
  account_id text collate "C",
  connector text collate "C" not null,
  tool_name text collate "C" not null,
  agent_run_id text collate "C",
  api_client_id text collate "C" not null,
  -- The number of the instance that runs it.
  instance bigint not null,
  status text collate "C" not null check (status in ('STARTED', 'SUCCEEDED', 'FAILED', 'UNKNOWN')),
  error_kind text collate "C",
  upstream_status bigint,
  started_at bigint not null,
  finished_at bigint
);

create unique index executions_id on executions (id);
create index executions_account on executions (account_id, seq) where account_id is not null;
create index executions_agent_run on executions (agent_run_id, seq) where agent_run_id is not null;
create index executions_connector on executions (connector, seq);
create index executions_tool on executions (tool_name, seq);
create index executions_status on executions (status, seq);
create sequence executions_seq;
-- The calls that are running: few, however many executions there are.
create index executions_started on executions (environment_id, started_at) where status = 'STARTED';

-- Ended executions, counted by the filters of lists: sums of rows. So totals are exact, and a list reads the index of the rarest value.
create table execution_counts (
  environment_id text collate "C" not null,
  connector text collate "C" not null,
  tool_name text collate "C" not null,
  status text collate "C" not null,
  total bigint not null
);

create index execution_counts_key on execution_counts (environment_id, connector, tool_name, status);

-- The number of accounts and of executions of an environment: sums of rows.
create view counters as
  select connections.environment_id, 'accounts' as name, account_counts.total
    from account_counts join connections on connections.id = account_counts.connection_id
  union all
  select environment_id, 'executions', total from execution_counts
  union all
  select environment_id, 'executions', 1 from executions where status = 'STARTED';

-- The times at which each 1,024 executions were started, to turn a range of time into a range of `seq`. A block has a row for each ten
-- seconds in which executions were started, and possibly the same row several times; ranges of time overlap.
create table execution_blocks (
  block bigint not null,
  first_started_at bigint not null,
  last_started_at bigint not null
);

create index execution_blocks_block on execution_blocks (block, last_started_at);

create table idempotency_keys (
  environment_id text collate "C" not null references environments (id),
  client_id text collate "C" not null,
  route text collate "C" not null,
  key_digest bytea not null check (length(key_digest) = 32),
  request_digest bytea not null check (length(request_digest) = 32),
  state text collate "C" not null check (state in ('RUNNING', 'DONE')),
  status bigint,
  sealed_reply bytea,
  execution_id text collate "C",
  -- The number of the instance that processes the request.
  instance bigint not null,
  created_at bigint not null,
  expires_at bigint not null,
  primary key (environment_id, client_id, route, key_digest)
);

create index idempotency_keys_expiry on idempotency_keys (environment_id, expires_at);
create index idempotency_keys_running on idempotency_keys (environment_id, created_at) where state = 'RUNNING';

-- The bytes that the idempotency keys of each client take, as a sum of rows: 256 for a key, and its stored response.
create table idempotency_bytes (
  environment_id text collate "C" not null,
  client_id text collate "C" not null,
  bytes bigint not null
);

create index idempotency_bytes_key on idempotency_bytes (environment_id, client_id);

create table audit_log (
  seq bigint primary key not null,
  id text collate "C" not null unique,
  environment_id text collate "C" not null references environments (id),
  at bigint not null,
  actor text collate "C" not null,
  action text collate "C" not null,
  subject_id text collate "C",
  request_id text collate "C",
  details text collate "C" not null,
  prev_hash bytea not null check (length(prev_hash) = 32),
  hash bytea not null check (length(hash) = 32)
);

-- A list is in the order of ids, which is that of time. The order of `seq` is that of the chains.
create index audit_log_page on audit_log (environment_id, id);

-- The audit log of an environment is several chains, so that transactions need not wait for each other. Each connection writes to its
-- own chain. The number of the chain, its lane, is in bits 30 to 39 of `seq`; `seq` counts the records of the chain below that.
-- This table has the end of each chain. Without it, rows removed from the end would not be noticed.
create table audit_heads (
  environment_id text collate "C" not null references environments (id),
  seq bigint not null,
  hash bytea not null check (length(hash) = 32),
  lane bigint not null generated always as ((seq >> 30) & 1023) stored,
  primary key (environment_id, lane)
) with (fillfactor = 50);

-- The beginning of each chain that has archived records. Records up to `archived_seq` are in files of the archive. Records up to
-- `removed_seq` were deleted from audit_log, so the first record of the chain follows `removed_hash`.
create table audit_archives (
  environment_id text collate "C" not null references environments (id),
  archived_seq bigint not null,
  removed_seq bigint not null,
  removed_hash bytea not null check (length(removed_hash) = 32),
  lane bigint not null generated always as ((archived_seq >> 30) & 1023) stored,
  primary key (environment_id, lane),
  check (removed_seq <= archived_seq)
);

create table deployment_secrets (
  name text collate "C" primary key not null,
  kek_id text collate "C" not null references key_checks (kek_id),
  sealed bytea not null,
  created_at bigint not null
);

-- Digests of the built-in connectors with which the accounts of an environment were last compared, by identifier.
create table catalogue_digests (
  environment_id text collate "C" primary key not null references environments (id),
  digests text collate "C" not null
);

-- Two accounts of one user at one provider share the grant there. A revocation for one must find the other.
create index accounts_subject on accounts (connection_id, provider_subject) where provider_subject is not null;

-- One row for each authorization link. OPEN: the link can be used. PENDING_VERIFICATION: a user has finished it; the granted
-- credentials are stored here, sealed and unused, until the application has verified the user. The other states are final, and have
-- no sealed value. There is no foreign key to the account: credentials of a deleted account must still be revoked.
create table auth_requests (
  id text collate "C" primary key not null,
  environment_id text collate "C" not null references environments (id),
  account_id text collate "C" not null,
  connection_id text collate "C" not null,
  state text collate "C" not null check (state in ('OPEN', 'PENDING_VERIFICATION', 'CONSUMED', 'FAILED', 'EXPIRED')),
  link_digest bytea not null check (length(link_digest) = 32),
  link_expires_at bigint not null,
  request_digest bytea check (request_digest is null or length(request_digest) = 32),
  identifier text collate "C" not null,
  user_verify_url text collate "C",
  caller_state text collate "C",
  origins text collate "C" not null default '[]',
  data_key bigint,
  kek_id text collate "C" references key_checks (kek_id),
  pending_sealed bytea,
  mismatches bigint not null default 0 check (mismatches >= 0),
  created_at bigint not null,
  expires_at bigint not null,
  ended_at bigint,
  check ((data_key is null) = (pending_sealed is null)),
  check ((kek_id is null) = (pending_sealed is null)),
  check ((state = 'PENDING_VERIFICATION') = (pending_sealed is not null)),
  check ((state in ('OPEN', 'PENDING_VERIFICATION')) = (ended_at is null))
);

create unique index auth_requests_link on auth_requests (link_digest);
create unique index auth_requests_request on auth_requests (request_digest) where request_digest is not null;
create index auth_requests_account on auth_requests (account_id) where ended_at is null;
create index auth_requests_due on auth_requests (environment_id, expires_at) where ended_at is null;
create index auth_requests_ended on auth_requests (environment_id, ended_at) where ended_at is not null;
create index auth_requests_kek on auth_requests (kek_id) where kek_id is not null;

-- One row for each visit of a provider: the secrets of the browser and the server, which are valid for one return.
create table auth_flows (
  state_digest bytea primary key not null check (length(state_digest) = 32),
  environment_id text collate "C" not null references environments (id),
  request_id text collate "C" not null references auth_requests (id) on delete cascade,
  connection_id text collate "C" not null,
  browser_digest bytea not null check (length(browser_digest) = 32),
  kept_sealed bytea,
  created_at bigint not null,
  expires_at bigint not null,
  spent_at bigint,
  check ((kept_sealed is null) = (spent_at is not null))
);

create index auth_flows_request on auth_flows (request_id);
create index auth_flows_expiry on auth_flows (environment_id, expires_at);

-- The lease of the refresh of an account, or the outcome of its last refresh. A row is kept as long as its account, so that `fencing`
-- never decreases. HELD: an owner has the lease. OPEN: a request was sent with the credentials of `generation`, and its outcome is not
-- known. SETTLED: the outcome is known; `generation` is the one that was obtained, or the one that was kept.
create table refresh_leases (
  account_id text collate "C" primary key not null references accounts (id) on delete cascade,
  environment_id text collate "C" not null references environments (id),
  fencing bigint not null check (fencing >= 1),
  state text collate "C" not null check (state in ('HELD', 'OPEN', 'SETTLED')),
  generation bigint not null,
  owner text collate "C",
  expires_at bigint,
  failures bigint not null default 0 check (failures >= 0),
  last_failure text collate "C",
  retry_at bigint,
  -- The versions of the account and its connection at the last refresh. If one of them has changed, retry_at is ignored.
  versions text collate "C",
  check ((state = 'HELD') = (owner is not null)),
  check ((owner is null) = (expires_at is null))
);

create index refresh_leases_held on refresh_leases (environment_id) where state = 'HELD';

-- Work outside of the database, added by the transaction that causes it. WAITING: to be begun at run_at. RUNNING: the instance with the
-- number in owner works on it; if that instance is gone, the attempt has failed. DONE: it worked. FAILED: it was given up; the payload
-- is kept for some days, so that the job can be tried again. Jobs of one lane share a number of places.
create table jobs (
  id text collate "C" primary key not null,
  environment_id text collate "C" not null references environments (id),
  kind text collate "C" not null,
  lane text collate "C" not null,
  subject_id text collate "C",
  data_key bigint,
  kek_id text collate "C" references key_checks (kek_id),
  payload_sealed bytea,
  state text collate "C" not null check (state in ('WAITING', 'RUNNING', 'DONE', 'FAILED')),
  -- Attempts that were begun, since the job was added or tried again by a client.
  attempts bigint not null default 0 check (attempts >= 0),
  run_at bigint not null,
  give_up_at bigint not null,
  owner bigint,
  result text collate "C",
  reason text collate "C",
  created_at bigint not null,
  updated_at bigint not null,
  check ((data_key is null) = (payload_sealed is null)),
  check ((kek_id is null) = (payload_sealed is null)),
  check (payload_sealed is null or state <> 'DONE'),
  check (payload_sealed is not null or state in ('DONE', 'FAILED')),
  check ((state = 'RUNNING') = (owner is not null)),
  check (result is null or state = 'DONE')
);

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
  name text collate "C" primary key not null,
  next_at bigint not null,
  holder bigint
);

-- Active accounts by the expiry of their tokens. A token that expired long ago belongs to a grant that was not refreshed for long.
create index accounts_idle on accounts (environment_id, provider, authorization_type, token_expires_at, seq)
  where status = 'ACTIVE' and token_expires_at is not null;

-- Bytes that are stored for some time: files that tools returned, and the requests and responses of executions. Each is sealed under
-- its own data key, together with its name and type.
create table stored_contents (
  -- The id of the file, or the id of the execution.
  id text collate "C" primary key not null,
  environment_id text collate "C" not null references environments (id),
  kind text collate "C" not null check (kind in ('file', 'execution')),
  -- The owner. The bytes are deleted with the account, and can be used by accounts of the same owner.
  account_id text collate "C" not null,
  organization_id text collate "C" not null default '',
  user_id text collate "C" not null default '',
  size bigint not null check (size >= 0),
  kek_id text collate "C" not null references key_checks (kek_id),
  data_key bigint not null,
  sealed bytea not null,
  created_at bigint not null,
  expires_at bigint not null
);

create index stored_contents_account on stored_contents (account_id);
-- For the sum of the sizes of the files of an environment.
create index stored_contents_size on stored_contents (environment_id, kind, size);
create index stored_contents_expiry on stored_contents (environment_id, expires_at);
-- Finds what is older than a retention that was shortened.
create index stored_contents_age on stored_contents (environment_id, kind, created_at);
create index stored_contents_kek on stored_contents (kek_id);

-- A member of a JSON object, without white space around it. U+0000, which text cannot hold, becomes U+FFFD.
create function trimmed_member(object text, member text) returns text language sql immutable parallel safe
  return btrim(replace(object, '\u0000', '\ufffd')::json ->> member, e'\t\n\r ');

-- The tools of an environment. Tools of the catalogue come with the program and are not stored.
create table environment_tools (
  environment_id text collate "C" not null references environments (id),
  name text collate "C" not null,
  -- The identifier of the provider whose accounts run it.
  connector text collate "C" not null,
  source text collate "C" not null check (source in ('custom', 'import', 'mcp')),
  -- The name of the tool in its source: the id of an operation, or the name of an MCP tool. When the source is read again, the tool is
  -- found by it, and keeps its name.
  source_id text collate "C",
  definition text collate "C" not null,
  -- SHA-256 of the text of the definition, hexadecimal.
  content_hash text collate "C" not null,
  -- The reason why a tool waits for a review because its source has changed; null for a tool that can run.
  flagged text collate "C",
  -- The revision of the environment at which this row was last written. A copy is updated from the rows of later revisions.
  revision bigint not null,
  version bigint not null default 1,
  created_at bigint not null,
  updated_at bigint not null,
  primary key (environment_id, name)
);

create unique index environment_tools_source on environment_tools (environment_id, connector, source, source_id)
  where source_id is not null;
create index environment_tools_connector on environment_tools (environment_id, connector, name);
-- An index entry has a limited size, so the index has a hash of the description.
create index environment_tools_description
  on environment_tools (environment_id, connector, md5(trimmed_member(definition, 'description')));
create index environment_tools_revision on environment_tools (environment_id, revision, name);

-- Incremented with every change of the tools of an environment, also with deletions.
create table environment_tool_revisions (
  environment_id text collate "C" primary key not null references environments (id),
  revision bigint not null
);

-- MCP servers that offer several connections. `mappings` is a list of {connectionId, tools}; with tools null, every tool is offered.
create table mcp_configs (
  id text collate "C" primary key not null,
  environment_id text collate "C" not null references environments (id),
  name text collate "C" not null,
  description text collate "C" not null,
  mappings text collate "C" not null,
  version bigint not null default 1,
  created_at bigint not null,
  updated_at bigint not null
);

create unique index mcp_configs_name on mcp_configs (environment_id, name);

-- Applies a JSON Merge Patch (RFC 7396), and leaves the order of members as it is.
create function merge_patch(target json, patch json) returns json language plpgsql immutable as $$
declare
  base json := case when json_typeof(target) = 'object' then target else '{}' end;
begin
  if json_typeof(patch) is distinct from 'object' then return patch; end if;
  return coalesce((
    select json_object_agg(member, value order by place) from (
      select key as member, place, case when patch -> key is null then value else merge_patch(value, patch -> key) end as value
        from json_each(base) with ordinality as has (key, value, place)
        where patch -> key is null or json_typeof(patch -> key) <> 'null'
      union all
      select key, 1000000 + place, merge_patch(null, value)
        from json_each(patch) with ordinality as adds (key, value, place)
        where base -> key is null and json_typeof(value) <> 'null'
    ) as merged
  ), '{}');
end $$;

create function refuse() returns trigger language plpgsql as $$
begin
  raise exception '%', tg_argv[0];
end $$;

create trigger accounts_stay before update of seq, id, environment_id, connection_id, connector, provider on accounts
  for each row execute function refuse('an account never changes its id, environment, connection or provider');
create trigger executions_stay before update of seq, environment_id, connector, tool_name, started_at on executions
  for each row execute function refuse('an execution never changes what it was');
create trigger audit_log_final before update on audit_log
  for each row execute function refuse('the audit log is never changed');

create function number_instance() returns trigger language plpgsql as $$
begin
  new.number := coalesce(new.number, nextval('instances_number'));
  return new;
end $$;

create trigger instances_numbered before insert on instances for each row execute function number_instance();

-- Fails when an instance is not registered: others have taken over what it was doing.
create function require_instance(its_number bigint) returns void language plpgsql as $$
begin
  perform 1 from instances where number = its_number;
  if not found then raise exception 'the instance % has ended', its_number using errcode = 'VK001'; end if;
end $$;

create function number_data_key() returns trigger language plpgsql as $$
begin
  new.slot := coalesce(new.slot, nextval('data_keys_slot'));
  return new;
end $$;

create trigger data_keys_numbered before insert on data_keys for each row execute function number_data_key();

create function delete_data_key() returns trigger language plpgsql as $$
begin
  delete from data_keys where slot = old.data_key;
  return null;
end $$;

create trigger connections_data_key_replaced after update of data_key on connections for each row
  when (old.data_key is distinct from new.data_key) execute function delete_data_key();
create trigger connections_data_key_removed after delete on connections for each row execute function delete_data_key();
create trigger accounts_data_key_replaced after update of data_key on accounts for each row
  when (old.data_key is distinct from new.data_key) execute function delete_data_key();
create trigger accounts_data_key_removed after delete on accounts for each row execute function delete_data_key();
create trigger auth_requests_data_key_replaced after update of data_key on auth_requests for each row
  when (old.data_key is distinct from new.data_key) execute function delete_data_key();
create trigger auth_requests_data_key_removed after delete on auth_requests for each row execute function delete_data_key();
create trigger jobs_data_key_replaced after update of data_key on jobs for each row
  when (old.data_key is distinct from new.data_key) execute function delete_data_key();
create trigger jobs_data_key_removed after delete on jobs for each row execute function delete_data_key();
create trigger stored_contents_data_key_replaced after update of data_key on stored_contents for each row
  when (old.data_key is distinct from new.data_key) execute function delete_data_key();
create trigger stored_contents_data_key_removed after delete on stored_contents for each row execute function delete_data_key();

create function keep_tombstone() returns trigger language plpgsql as $$
begin
  if exists (select 1 from account_tombstones where id = new.id) then
    raise exception 'a removed account does not come back';
  end if;
  return new;
end $$;

create trigger account_tombstones_final before insert on accounts for each row execute function keep_tombstone();

create function account_inserted() returns trigger language plpgsql as $$
begin
  insert into account_counts (connection_id, status, total) values (new.connection_id, new.status, 1);
  insert into accounts_search (seq, environment_id, search_text) values (new.seq, new.environment_id, new.search_text);
  return null;
end $$;

create function account_deleted() returns trigger language plpgsql as $$
begin
  insert into account_counts (connection_id, status, total) values (old.connection_id, old.status, -1);
  delete from accounts_search where seq = old.seq;
  delete from stored_contents where account_id = old.id;
  return null;
end $$;

create function account_moved() returns trigger language plpgsql as $$
begin
  insert into account_counts (connection_id, status, total)
    values (old.connection_id, old.status, -1), (new.connection_id, new.status, 1);
  return null;
end $$;

create function account_renamed() returns trigger language plpgsql as $$
begin
  update accounts_search set search_text = new.search_text where seq = new.seq;
  return null;
end $$;

create trigger accounts_inserted after insert on accounts for each row execute function account_inserted();
create trigger accounts_deleted after delete on accounts for each row execute function account_deleted();
create trigger accounts_moved after update of status on accounts for each row
  when (new.status <> old.status) execute function account_moved();
create trigger accounts_renamed after update of search_text on accounts for each row
  when (new.search_text <> old.search_text) execute function account_renamed();

create function connection_deleted() returns trigger language plpgsql as $$
begin
  delete from account_counts where connection_id = old.id;
  return null;
end $$;

create trigger connections_deleted after delete on connections for each row execute function connection_deleted();

create function execution_started() returns trigger language plpgsql as $$
declare
  piece bigint := new.started_at - new.started_at % 10000;
begin
  if not exists (select 1 from execution_blocks where block = new.seq >> 10 and last_started_at = piece + 9999) then
    insert into execution_blocks (block, first_started_at, last_started_at) values (new.seq >> 10, piece, piece + 9999);
  end if;
  return null;
end $$;

create function execution_ended() returns trigger language plpgsql as $$
begin
  insert into execution_counts (environment_id, connector, tool_name, status, total)
    values (new.environment_id, new.connector, new.tool_name, new.status, 1);
  return null;
end $$;

create function execution_deleted() returns trigger language plpgsql as $$
begin
  insert into execution_counts (environment_id, connector, tool_name, status, total)
    values (old.environment_id, old.connector, old.tool_name, old.status, -1);
  return null;
end $$;

create trigger executions_started_at after insert on executions for each row execute function execution_started();
create trigger executions_inserted after insert on executions for each row
  when (new.status <> 'STARTED') execute function execution_ended();
create trigger executions_ended after update of status on executions for each row
  when (old.status = 'STARTED' and new.status <> 'STARTED') execute function execution_ended();
create trigger executions_deleted after delete on executions for each row
  when (old.status <> 'STARTED') execute function execution_deleted();

create function idempotency_bytes_changed() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into idempotency_bytes values (new.environment_id, new.client_id, 256 + coalesce(length(new.sealed_reply), 0));
  elsif tg_op = 'DELETE' then
    insert into idempotency_bytes values (old.environment_id, old.client_id, -256 - coalesce(length(old.sealed_reply), 0));
  else
    insert into idempotency_bytes
      values (new.environment_id, new.client_id, length(new.sealed_reply) - coalesce(length(old.sealed_reply), 0));
  end if;
  return null;
end $$;

create trigger idempotency_keys_counted after insert or delete on idempotency_keys
  for each row execute function idempotency_bytes_changed();
create trigger idempotency_replies_kept after update of sealed_reply on idempotency_keys for each row
  when (new.sealed_reply is not null) execute function idempotency_bytes_changed();

-- Joins the rows of each count into one. One process at a time does it; the sums stay the same. It must not run in a serializable
-- transaction, which would conflict with those that count.
create function fold_counts() returns void language plpgsql as $$
begin
  if not pg_try_advisory_xact_lock(hashtext('valetkey fold_counts')) then return; end if;
  with many as (select connection_id, status from account_counts group by 1, 2 having count(*) > 1),
    removed as (delete from account_counts as t using many
      where t.connection_id = many.connection_id and t.status = many.status returning t.*)
    insert into account_counts select connection_id, status, sum(total) from removed group by 1, 2 having sum(total) <> 0;
  with many as (select environment_id, connector, tool_name, status from execution_counts group by 1, 2, 3, 4 having count(*) > 1),
    removed as (delete from execution_counts as t using many where t.environment_id = many.environment_id
      and t.connector = many.connector and t.tool_name = many.tool_name and t.status = many.status returning t.*)
    insert into execution_counts select environment_id, connector, tool_name, status, sum(total) from removed
      group by 1, 2, 3, 4 having sum(total) <> 0;
  with many as (select environment_id, client_id from idempotency_bytes group by 1, 2 having count(*) > 1),
    removed as (delete from idempotency_bytes as t using many
      where t.environment_id = many.environment_id and t.client_id = many.client_id returning t.*)
    insert into idempotency_bytes select environment_id, client_id, sum(bytes) from removed group by 1, 2 having sum(bytes) <> 0;
end $$;

-- Has no rows. A transaction that has met conflicts several times locks it, so that it meets no other one of that kind.
create table crowded_units ();
