-- The schema of release 0.1.0. Tables are strict. Times are integer milliseconds UTC, JSON is text, sealed bytes are blobs, booleans
-- are 0 or 1.
--
-- Tables that grow (accounts, executions, audit_log) have a `seq` that is allocated per environment from `counters`: the
-- environment's ordinal above bit 40, a running number below. So the rows of one environment are one range of the table, of each
-- index (an index ends in the rowid) and of the search index, in the order of creation. A scan is limited to an environment without
-- its id in every index.

create table environments (
  id text primary key not null,
  ordinal integer not null unique check (ordinal between 1 and 8191),
  kind text not null check (kind in ('DEVELOPMENT', 'PRODUCTION')),
  base_url text not null,
  settings text not null check (json_valid(settings)),
  created_at integer not null
) strict;

create table environment_hosts (
  host text primary key not null,
  environment_id text not null references environments (id)
) strict, without rowid;

create index environment_hosts_environment on environment_hosts (environment_id);

create table counters (
  environment_id text not null references environments (id),
  name text not null check (name in ('accounts', 'executions')),
  total integer not null default 0 check (total >= 0),
  last_seq integer not null,
  primary key (environment_id, name)
) strict, without rowid;

create trigger environments_counters after insert on environments begin
  insert into counters (environment_id, name, last_seq) values
    (new.id, 'accounts', new.ordinal << 40),
    (new.id, 'executions', new.ordinal << 40);
end;

create table api_clients (
  id text primary key not null,
  environment_id text not null references environments (id),
  name text not null,
  scopes text not null check (json_valid(scopes)),
  enabled integer not null default 1 check (enabled in (0, 1)),
  generation integer not null default 1 check (generation >= 1),
  created_at integer not null,
  updated_at integer not null
) strict;

create index api_clients_page on api_clients (environment_id, id);

create table api_client_secrets (
  id text primary key not null,
  environment_id text not null references environments (id),
  client_id text not null references api_clients (id) on delete cascade,
  digest blob not null check (length(digest) = 32),
  prefix text not null,
  created_at integer not null,
  expires_at integer
) strict;

create index api_client_secrets_client on api_client_secrets (client_id);

create table custom_providers (
  id text primary key not null,
  environment_id text not null references environments (id),
  identifier text not null,
  definition text not null check (json_valid(definition)),
  is_mcp integer not null default 0 check (is_mcp in (0, 1)),
  version integer not null default 1,
  created_at integer not null,
  updated_at integer not null
) strict;

create unique index custom_providers_identifier on custom_providers (environment_id, identifier);

create table connections (
  id text primary key not null,
  environment_id text not null references environments (id),
  key_id text not null,
  provider_key text not null,
  type text not null,
  status text not null check (status in ('DRAFT', 'IN_PROGRESS', 'COMPLETED')),
  enabled integer not null default 1 check (enabled in (0, 1)),
  organization_id text not null default '',
  organization_name text not null default '',
  domains text not null default '[]' check (json_valid(domains)),
  client_id text,
  data_key integer references data_keys (slot),
  kek_id text references key_checks (kek_id),
  client_secret_sealed blob,
  -- Incremented whenever the client is replaced. It and the binding are authenticated with the secret.
  client_generation integer not null default 0 check (client_generation >= 0),
  client_binding text check (client_binding is null or json_valid(client_binding)),
  scopes text not null default '[]' check (json_valid(scopes)),
  allowed_tools text check (allowed_tools is null or json_valid(allowed_tools)),
  allowed_addresses text check (allowed_addresses is null or json_valid(allowed_addresses)),
  mcp_timeout_seconds integer check (mcp_timeout_seconds is null or mcp_timeout_seconds > 0),
  verification_mode text not null default 'REQUIRED',
  post_user_verify_redirect_url text,
  settings text not null default '{}' check (json_valid(settings)),
  version integer not null default 1,
  created_at integer not null,
  updated_at integer not null,
  check ((data_key is null) = (client_secret_sealed is null)),
  check ((kek_id is null) = (client_secret_sealed is null))
) strict;

create unique index connections_key_id on connections (environment_id, key_id);
create unique index connections_page on connections (environment_id, id);
create index connections_provider on connections (environment_id, provider_key);
create index connections_kek on connections (kek_id) where kek_id is not null;

create trigger connections_data_key_replaced after update of data_key on connections
when old.data_key is not null and new.data_key is not old.data_key begin
  update data_keys set used = 0, wrapped = zeroblob(128) where slot = old.data_key;
end;

create trigger connections_data_key_removed after delete on connections when old.data_key is not null begin
  update data_keys set used = 0, wrapped = zeroblob(128) where slot = old.data_key;
end;

-- The wrapped data keys of sealed values. SQLite can leave a copy of a row in the free space of a page when it moves the row to another
-- page. So these rows never move: all have one size, they are only added at the end, and they are never deleted. The slot of a row that
-- is gone is overwritten with zeros in place, and is used again. Without its data key, a copy of a sealed value opens no more.
-- wrapped: the length of the key in one byte, the key, and zeros.
create table data_keys (
  slot integer primary key not null,
  used integer not null check (used in (0, 1)),
  wrapped blob not null check (length(wrapped) = 128)
) strict;

create index data_keys_free on data_keys (used) where used = 0;

create trigger data_keys_stay before delete on data_keys begin
  select raise(abort, 'a data key is overwritten, never deleted');
end;

create trigger data_keys_keep_slot before update of slot on data_keys begin
  select raise(abort, 'a data key never moves');
end;

create table accounts (
  seq integer primary key not null,
  id text not null,
  environment_id text not null,
  connection_id text not null,
  connector text not null,
  provider text not null,
  organization_id text not null default '',
  user_id text not null default '',
  identifier text not null,
  authorization_type text not null,
  status text not null check (status in ('ACTIVE', 'EXPIRED', 'PENDING_AUTH', 'PENDING_VERIFICATION', 'DISCONNECTED')),
  status_reason text,
  token_expires_at integer,
  last_used_at integer,
  api_config text not null default '{}' check (json_valid(api_config)),
  public_details text check (public_details is null or json_valid(public_details)),
  origins text not null default '[]' check (json_valid(origins)),
  -- Further values that the credential is bound to. They are authenticated with it, like its origins.
  binding text not null default '{"base":null,"use":"","fields":{},"issued":null,"endpoints":[]}' check (json_valid(binding)),
  provider_subject text,
  data_key integer references data_keys (slot),
  kek_id text references key_checks (kek_id),
  credentials_sealed blob,
  temporary_sealed blob,
  credential_generation integer not null default 0 check (credential_generation >= 0),
  -- The folded identifier. The key and the provider of a connection are searched in connections.
  search_text text not null,
  version integer not null default 1,
  created_at integer not null,
  updated_at integer not null,
  check ((data_key is null) = (kek_id is null)),
  check (instr(identifier || connector || provider, char(10)) = 0),
  foreign key (environment_id, connection_id) references connections (environment_id, id)
) strict;

create unique index accounts_id on accounts (id);
-- A connection belongs to one environment, so this is unique within the environment too.
create unique index accounts_identity on accounts (connection_id, identifier, organization_id, user_id);
-- Many accounts share one value of these. The index contains the order and the status, so a page of accounts with a rare status
-- reads no other rows. It contains the text too, so a search within a connection reads no other rows either.
create index accounts_connection on accounts (connection_id, seq, status, search_text);
create index accounts_provider on accounts (provider, seq, status);
create index accounts_organization on accounts (organization_id, seq, status) where organization_id <> '';
create index accounts_user on accounts (user_id) where user_id <> '';
create index accounts_identifier on accounts (identifier);
create index accounts_status on accounts (status);
create index accounts_kek on accounts (kek_id) where kek_id is not null;

create trigger accounts_data_key_replaced after update of data_key on accounts
when old.data_key is not null and new.data_key is not old.data_key begin
  update data_keys set used = 0, wrapped = zeroblob(128) where slot = old.data_key;
end;

create trigger accounts_data_key_removed after delete on accounts when old.data_key is not null begin
  update data_keys set used = 0, wrapped = zeroblob(128) where slot = old.data_key;
end;

create trigger accounts_counted after insert on accounts begin
  update counters set total = total + 1, last_seq = new.seq where environment_id = new.environment_id and name = 'accounts';
end;

create trigger accounts_uncounted after delete on accounts begin
  update counters set total = total - 1 where environment_id = old.environment_id and name = 'accounts';
end;

-- The number of accounts of a connection in each status. Lists filtered by connection, provider or status need exact totals, and
-- counting 100,000 index entries takes longer than reading the page.
create table account_counts (
  connection_id text not null references connections (id) on delete cascade,
  status text not null,
  total integer not null check (total >= 0),
  primary key (connection_id, status)
) strict, without rowid;

create trigger account_counts_insert after insert on accounts begin
  insert into account_counts (connection_id, status, total) values (new.connection_id, new.status, 1)
    on conflict do update set total = total + 1;
end;

create trigger account_counts_delete after delete on accounts begin
  update account_counts set total = total - 1 where connection_id = old.connection_id and status = old.status;
end;

create trigger account_counts_update after update of status on accounts when new.status <> old.status begin
  update account_counts set total = total - 1 where connection_id = old.connection_id and status = old.status;
  insert into account_counts (connection_id, status, total) values (new.connection_id, new.status, 1)
    on conflict do update set total = total + 1;
end;

create trigger accounts_stay before update of seq, id, environment_id, connection_id, connector, provider on accounts begin
  select raise(abort, 'an account never changes its id, environment, connection or provider');
end;

-- Substring search of identifiers. The text is folded before it is stored, so the tokenizer must not fold again.
create virtual table accounts_search using fts5 (
  search_text, content = 'accounts', content_rowid = 'seq', columnsize = 0, tokenize = 'trigram case_sensitive 1'
);
-- Deleted text is removed from the index immediately instead of at a later merge.
insert into accounts_search (accounts_search, rank) values ('secure-delete', 1);

-- Accounts that are not in the index yet. A row is added by an insert and removed at the end of its transaction. Otherwise the index
-- would write a segment at every savepoint, and would have to merge the segments later.
create table accounts_unindexed (seq integer primary key not null) strict;

create trigger accounts_search_insert after insert on accounts begin
  insert into accounts_unindexed (seq) values (new.seq);
end;

create trigger accounts_unindexed_delete after delete on accounts_unindexed begin
  insert into accounts_search (rowid, search_text) select seq, search_text from accounts where seq = old.seq;
end;

create trigger accounts_search_delete after delete on accounts begin
  insert into accounts_search (accounts_search, rowid, search_text)
    select 'delete', old.seq, old.search_text where old.seq not in (select seq from accounts_unindexed);
  delete from accounts_unindexed where seq = old.seq;
end;

create trigger accounts_search_update after update of search_text on accounts
when new.search_text <> old.search_text and new.seq not in (select seq from accounts_unindexed) begin
  insert into accounts_search (accounts_search, rowid, search_text) values ('delete', old.seq, old.search_text);
  insert into accounts_search (rowid, search_text) values (new.seq, new.search_text);
end;

-- Removed accounts. Ids are never used again, late writers are rejected, and page tokens keep their place.
create table account_tombstones (
  id text primary key not null,
  environment_id text not null references environments (id),
  seq integer not null,
  generation integer not null,
  deleted_at integer not null
) strict, without rowid;

create trigger account_tombstones_final before insert on accounts
when exists (select 1 from account_tombstones where id = new.id) begin
  select raise(abort, 'a removed account does not come back');
end;

-- The processes that serve this database. When a row is missing, its process has ended, and another one ends what it had begun.
-- Numbers are never used twice.
create table instances (
  number integer primary key autoincrement not null,
  id text not null unique,
  version text not null,
  started_at integer not null,
  beat_at integer not null
) strict;

create table executions (
  seq integer primary key not null,
  id text not null,
  environment_id text not null references environments (id),
  -- No foreign key: the record of an execution survives its account and its client.
  account_id text,
  connector text not null,
  tool_name text not null,
  agent_run_id text,
  api_client_id text not null,
  -- The number of the instance that runs it.
  instance integer not null,
  status text not null check (status in ('STARTED', 'SUCCEEDED', 'FAILED', 'UNKNOWN')),
  error_kind text,
  upstream_status integer,
  started_at integer not null,
  finished_at integer
) strict;

create unique index executions_id on executions (id);
create index executions_account on executions (account_id) where account_id is not null;
create index executions_agent_run on executions (agent_run_id) where agent_run_id is not null;
create index executions_connector on executions (connector);
create index executions_tool on executions (tool_name);
create index executions_status on executions (status);
-- The calls that are running: few, however many executions there are.
create index executions_started on executions (environment_id, started_at) where status = 'STARTED';

create trigger executions_counted after insert on executions begin
  update counters set total = total + 1, last_seq = new.seq where environment_id = new.environment_id and name = 'executions';
end;

create trigger executions_uncounted after delete on executions begin
  update counters set total = total - 1 where environment_id = old.environment_id and name = 'executions';
end;

-- Ended executions, counted by the filters of lists. So totals are exact, and a list reads the index of the rarest value.
create table execution_counts (
  environment_id text not null references environments (id),
  connector text not null,
  tool_name text not null,
  status text not null,
  total integer not null check (total >= 0),
  primary key (environment_id, connector, tool_name, status)
) strict, without rowid;

create trigger execution_counts_insert after insert on executions when new.status <> 'STARTED' begin
  insert into execution_counts (environment_id, connector, tool_name, status, total)
    values (new.environment_id, new.connector, new.tool_name, new.status, 1)
    on conflict do update set total = total + 1;
end;

create trigger execution_counts_end after update of status on executions
when old.status = 'STARTED' and new.status <> 'STARTED' begin
  insert into execution_counts (environment_id, connector, tool_name, status, total)
    values (new.environment_id, new.connector, new.tool_name, new.status, 1)
    on conflict do update set total = total + 1;
end;

create trigger execution_counts_delete after delete on executions when old.status <> 'STARTED' begin
  update execution_counts set total = total - 1 where environment_id = old.environment_id
    and connector = old.connector and tool_name = old.tool_name and status = old.status;
  delete from execution_counts where environment_id = old.environment_id
    and connector = old.connector and tool_name = old.tool_name and status = old.status and total = 0;
end;

-- The times at which each 1,024 executions were started, to turn a range of time into a range of `seq`. If the clock was set back,
-- ranges of time overlap and the ranges of `seq` are larger than needed.
create table execution_blocks (
  block integer primary key not null,
  first_started_at integer not null,
  last_started_at integer not null
) strict;

create trigger execution_blocks_insert after insert on executions begin
  insert into execution_blocks (block, first_started_at, last_started_at)
    values (new.seq >> 10, new.started_at, new.started_at)
    on conflict do update set first_started_at = min(first_started_at, new.started_at),
      last_started_at = max(last_started_at, new.started_at);
end;

create trigger executions_stay before update of seq, environment_id, connector, tool_name, started_at on executions begin
  select raise(abort, 'an execution never changes what it was');
end;

create table idempotency_keys (
  environment_id text not null references environments (id),
  client_id text not null,
  route text not null,
  key_digest blob not null check (length(key_digest) = 32),
  request_digest blob not null check (length(request_digest) = 32),
  state text not null check (state in ('RUNNING', 'DONE')),
  status integer,
  sealed_reply blob,
  execution_id text,
  -- The number of the instance that processes the request.
  instance integer not null,
  created_at integer not null,
  expires_at integer not null,
  primary key (environment_id, client_id, route, key_digest)
) strict, without rowid;

create index idempotency_keys_expiry on idempotency_keys (environment_id, expires_at);
create index idempotency_keys_running on idempotency_keys (environment_id, created_at) where state = 'RUNNING';

-- The bytes that the idempotency keys of each client take: 256 for a key, and its stored response.
create table idempotency_bytes (
  environment_id text not null references environments (id),
  client_id text not null,
  bytes integer not null,
  primary key (environment_id, client_id)
) strict, without rowid;

create trigger idempotency_keys_counted after insert on idempotency_keys begin
  insert into idempotency_bytes (environment_id, client_id, bytes)
    values (new.environment_id, new.client_id, 256 + coalesce(length(new.sealed_reply), 0))
    on conflict (environment_id, client_id) do update set bytes = bytes + excluded.bytes;
end;

create trigger idempotency_replies_kept after update of sealed_reply on idempotency_keys when new.sealed_reply is not null begin
  update idempotency_bytes set bytes = bytes + length(new.sealed_reply) - coalesce(length(old.sealed_reply), 0)
    where environment_id = new.environment_id and client_id = new.client_id;
end;

create trigger idempotency_keys_removed after delete on idempotency_keys begin
  update idempotency_bytes set bytes = bytes - 256 - coalesce(length(old.sealed_reply), 0)
    where environment_id = old.environment_id and client_id = old.client_id;
end;

create table audit_log (
  seq integer primary key not null,
  id text not null unique,
  environment_id text not null references environments (id),
  at integer not null,
  actor text not null,
  action text not null,
  subject_id text,
  request_id text,
  details text not null check (json_valid(details)),
  prev_hash blob not null check (length(prev_hash) = 32),
  hash blob not null check (length(hash) = 32)
) strict;

create trigger audit_log_final before update on audit_log begin
  select raise(abort, 'the audit log is never changed');
end;

-- The end of the audit chain of each environment. Without it, rows removed from the end would not be noticed. It also has the next
-- `seq` and the number of rows. It is written once in each transaction.
create table audit_heads (
  environment_id text primary key not null references environments (id),
  seq integer not null,
  hash blob not null check (length(hash) = 32)
) strict, without rowid;

-- The beginning of the audit chain of each environment that has archived records. Records up to `archived_seq` are in files of the
-- archive. Records up to `removed_seq` were deleted from audit_log, so its first record follows `removed_hash`.
create table audit_archives (
  environment_id text primary key not null references environments (id),
  archived_seq integer not null,
  removed_seq integer not null,
  removed_hash blob not null check (length(removed_hash) = 32),
  check (removed_seq <= archived_seq)
) strict, without rowid;

create table deployment_secrets (
  name text primary key not null,
  kek_id text not null references key_checks (kek_id),
  sealed blob not null,
  created_at integer not null
) strict;

create table key_checks (
  kek_id text primary key not null,
  check_value blob not null,
  created_at integer not null
) strict;

-- Digests of the built-in connectors with which the accounts of an environment were last compared, by identifier.
create table catalogue_digests (
  environment_id text primary key not null references environments (id),
  digests text not null check (json_valid(digests))
) strict;

-- Two accounts of one user at one provider share the grant there. A revocation for one must find the other.
create index accounts_subject on accounts (connection_id, provider_subject) where provider_subject is not null;

-- One row for each authorization link. OPEN: the link can be used. PENDING_VERIFICATION: a user has finished it; the granted
-- credentials are stored here, sealed and unused, until the application has verified the user. The other states are final, and have
-- no sealed value. There is no foreign key to the account: credentials of a deleted account must still be revoked.
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
  data_key integer references data_keys (slot),
  kek_id text references key_checks (kek_id),
  pending_sealed blob,
  mismatches integer not null default 0 check (mismatches >= 0),
  created_at integer not null,
  expires_at integer not null,
  ended_at integer,
  check ((data_key is null) = (pending_sealed is null)),
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

create trigger auth_requests_data_key_replaced after update of data_key on auth_requests
when old.data_key is not null and new.data_key is not old.data_key begin
  update data_keys set used = 0, wrapped = zeroblob(128) where slot = old.data_key;
end;

create trigger auth_requests_data_key_removed after delete on auth_requests when old.data_key is not null begin
  update data_keys set used = 0, wrapped = zeroblob(128) where slot = old.data_key;
end;

-- One row for each visit of a provider: the secrets of the browser and the server, which are valid for one return.
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

-- The lease of the refresh of an account, or the outcome of its last refresh. A row is kept as long as its account, so that `fencing`
-- never decreases. HELD: an owner has the lease. OPEN: a request was sent with the credentials of `generation`, and its outcome is not
-- known. SETTLED: the outcome is known; `generation` is the one that was obtained, or the one that was kept.
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
  -- The versions of the account and its connection at the last refresh. If one of them has changed, retry_at is ignored.
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
  data_key integer references data_keys (slot),
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
  check ((data_key is null) = (payload_sealed is null)),
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

create trigger jobs_data_key_replaced after update of data_key on jobs
when old.data_key is not null and new.data_key is not old.data_key begin
  update data_keys set used = 0, wrapped = zeroblob(128) where slot = old.data_key;
end;

create trigger jobs_data_key_removed after delete on jobs when old.data_key is not null begin
  update data_keys set used = 0, wrapped = zeroblob(128) where slot = old.data_key;
end;

-- Work that one instance of the deployment does again and again. holder: the number of the instance that is doing it.
create table periodic_jobs (
  name text primary key not null,
  next_at integer not null,
  holder integer
) strict, without rowid;

-- Active accounts by the expiry of their tokens. A token that expired long ago belongs to a grant that was not refreshed for long.
create index accounts_idle on accounts (environment_id, provider, authorization_type, token_expires_at)
  where status = 'ACTIVE' and token_expires_at is not null;

-- Bytes that are stored for some time: files that tools returned, and the requests and responses of executions. Each is sealed under
-- its own data key, together with its name and type.
create table stored_contents (
  -- The id of the file, or the id of the execution.
  id text primary key not null,
  environment_id text not null references environments (id),
  kind text not null check (kind in ('file', 'execution')),
  -- The owner. The bytes are deleted with the account, and can be used by accounts of the same owner.
  account_id text not null,
  organization_id text not null default '',
  user_id text not null default '',
  size integer not null check (size >= 0),
  kek_id text not null references key_checks (kek_id),
  data_key integer not null references data_keys (slot),
  sealed blob not null,
  created_at integer not null,
  expires_at integer not null
) strict;

create index stored_contents_account on stored_contents (account_id);
-- For the sum of the sizes of the files of an environment.
create index stored_contents_size on stored_contents (environment_id, kind, size);
create index stored_contents_expiry on stored_contents (environment_id, expires_at);
-- Finds what is older than a retention that was shortened.
create index stored_contents_age on stored_contents (environment_id, kind, created_at);
create index stored_contents_kek on stored_contents (kek_id);

create trigger stored_contents_data_key_replaced after update of data_key on stored_contents
when old.data_key is not null and new.data_key is not old.data_key begin
  update data_keys set used = 0, wrapped = zeroblob(128) where slot = old.data_key;
end;

create trigger stored_contents_data_key_removed after delete on stored_contents when old.data_key is not null begin
  update data_keys set used = 0, wrapped = zeroblob(128) where slot = old.data_key;
end;

create trigger stored_contents_of_account after delete on accounts begin
  delete from stored_contents where account_id = old.id;
end;

-- The tools of an environment. Tools of the catalogue come with the program and are not stored.
create table environment_tools (
  environment_id text not null references environments (id),
  name text not null,
  -- The identifier of the provider whose accounts run it.
  connector text not null,
  source text not null check (source in ('custom', 'import', 'mcp')),
  -- The name of the tool in its source: the id of an operation, or the name of an MCP tool. When the source is read again, the tool is
  -- found by it, and keeps its name.
  source_id text,
  definition text not null check (json_valid(definition)),
  -- SHA-256 of the text of the definition, hexadecimal.
  content_hash text not null,
  -- The reason why a tool waits for a review because its source has changed; null for a tool that can run.
  flagged text,
  -- The revision of the environment at which this row was last written. A copy is updated from the rows of later revisions.
  revision integer not null,
  version integer not null default 1,
  created_at integer not null,
  updated_at integer not null,
  primary key (environment_id, name)
) strict;

create unique index environment_tools_source on environment_tools (environment_id, connector, source, source_id)
  where source_id is not null;
create index environment_tools_connector on environment_tools (environment_id, connector, name);
create index environment_tools_description
  on environment_tools (environment_id, connector, trim(json_extract(definition, '$.description'), char(9, 10, 13, 32)));
create index environment_tools_revision on environment_tools (environment_id, revision, name);

-- Incremented with every change of the tools of an environment, also with deletions.
create table environment_tool_revisions (
  environment_id text primary key not null references environments (id),
  revision integer not null
) strict, without rowid;

-- MCP servers that offer several connections. `mappings` is a list of {connectionId, tools}; with tools null, every tool is offered.
create table mcp_configs (
  id text primary key not null,
  environment_id text not null references environments (id),
  name text not null,
  description text not null,
  mappings text not null check (json_valid(mappings)),
  version integer not null default 1,
  created_at integer not null,
  updated_at integer not null
) strict;

create unique index mcp_configs_name on mcp_configs (environment_id, name);
