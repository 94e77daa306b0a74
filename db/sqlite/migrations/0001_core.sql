-- Strict tables. Times are integer milliseconds UTC, json is text, sealed bytes are blobs, booleans are 0 or 1.
--
-- Tables that grow (accounts, executions, audit_log) have a `seq` that is allocated per environment from `counters`: the
-- environment's ordinal above bit 40, a running number below. One environment's rows are therefore one range of the table,
-- of each index (an index ends in the rowid) and of the search index, in the order of creation: the environment is a bound
-- of every scan without being a column of every index.

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
  client_secret_sealed blob,
  -- Grows with every client; with the binding it is authenticated with the secret.
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
  updated_at integer not null
) strict;

create unique index connections_key_id on connections (environment_id, key_id);
create unique index connections_page on connections (environment_id, id);
create index connections_provider on connections (environment_id, provider_key);

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
  -- What else the credential is bound to; authenticated with it, like its origins.
  binding text not null default '{"base":null,"use":"","fields":{},"issued":null,"endpoints":[]}' check (json_valid(binding)),
  provider_subject text,
  wrapped_data_key blob,
  kek_id text references key_checks (kek_id),
  credentials_sealed blob,
  temporary_sealed blob,
  credential_generation integer not null default 0 check (credential_generation >= 0),
  -- The folded identifier. The key and the provider of a connection are searched there.
  search_text text not null,
  version integer not null default 1,
  created_at integer not null,
  updated_at integer not null,
  check ((wrapped_data_key is null) = (kek_id is null)),
  check (instr(identifier || connector || provider, char(10)) = 0),
  foreign key (environment_id, connection_id) references connections (environment_id, id)
) strict;

create unique index accounts_id on accounts (id);
-- A connection belongs to one environment, so this is unique by environment as well.
create unique index accounts_identity on accounts (connection_id, identifier, organization_id, user_id);
-- These hold many accounts for one value. With the order and the status in the index itself, a page of the few that have a rare
-- status reads no other row; and with the text, neither does a search within a connection.
create index accounts_connection on accounts (connection_id, seq, status, search_text);
create index accounts_provider on accounts (provider, seq, status);
create index accounts_organization on accounts (organization_id, seq, status) where organization_id <> '';
create index accounts_user on accounts (user_id) where user_id <> '';
create index accounts_identifier on accounts (identifier);
create index accounts_status on accounts (status);
create index accounts_kek on accounts (kek_id) where kek_id is not null;

create trigger accounts_counted after insert on accounts begin
  update counters set total = total + 1, last_seq = new.seq where environment_id = new.environment_id and name = 'accounts';
end;

create trigger accounts_uncounted after delete on accounts begin
  update counters set total = total - 1 where environment_id = old.environment_id and name = 'accounts';
end;

-- How many accounts a connection has in each status. Lists filtered by connection, provider or status need exact totals, and
-- counting a tenth of a million index entries takes longer than the page itself.
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
-- Deleted text leaves the index at once instead of at a later merge.
insert into accounts_search (accounts_search, rank) values ('secure-delete', 1);

-- Accounts that the index lacks. Rows stand here from an insert to the end of its transaction, which takes them out again: the
-- index writes all that it was given at every savepoint, each time as a piece of its own that has to be merged later.
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

-- What was removed, for good: an id never comes back, a late writer is refused, a page token still has its place.
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

-- The processes that serve this database. A row that is gone is a process that is gone: what it had begun is ended for it. No
-- number is used twice.
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
-- The calls under way: few, however many executions there are.
create index executions_started on executions (environment_id, started_at) where status = 'STARTED';

create trigger executions_counted after insert on executions begin
  update counters set total = total + 1, last_seq = new.seq where environment_id = new.environment_id and name = 'executions';
end;

create trigger executions_uncounted after delete on executions begin
  update counters set total = total - 1 where environment_id = old.environment_id and name = 'executions';
end;

-- How many executions have ended, by what lists filter: their totals are exact, and the list walks the index of the rarest value.
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

-- When the executions of each 1,024 numbers were started: a range of time becomes a range of `seq`. A clock that was set back makes
-- ranges of time overlap, and the ranges of numbers larger than needed.
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
  -- The number of the instance that has the request.
  instance integer not null,
  created_at integer not null,
  expires_at integer not null,
  primary key (environment_id, client_id, route, key_digest)
) strict, without rowid;

create index idempotency_keys_expiry on idempotency_keys (environment_id, expires_at);
create index idempotency_keys_running on idempotency_keys (environment_id, created_at) where state = 'RUNNING';

-- The bytes that each client's keys take, with the responses that they hold: 256 for a key.
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

-- The end of each environment's chain: without it, rows cut off the end would not be missed. It also gives the next `seq`, and the
-- number of rows. Written once for each transaction.
create table audit_heads (
  environment_id text primary key not null references environments (id),
  seq integer not null,
  hash blob not null check (length(hash) = 32)
) strict, without rowid;

-- The beginning of each environment's chain, once records were archived. Records up to `archived_seq` are in files of the archive. Those
-- up to `removed_seq` are no longer in audit_log: the first record there follows `removed_hash`.
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

-- What the built-in connectors of an environment were when its accounts were last held against them, by identifier.
create table catalogue_digests (
  environment_id text primary key not null references environments (id),
  digests text not null check (json_valid(digests))
) strict;
