-- Clients of MCP servers that were registered: by an administrator, or by themselves. A client that is identified by the address of a
-- document is not stored.
create table oauth_clients (
  id text primary key not null,
  environment_id text not null references environments (id),
  kind text not null check (kind in ('REGISTERED', 'DYNAMIC')),
  name text not null,
  redirect_uris text not null check (json_valid(redirect_uris)),
  auth_method text not null check (auth_method in ('none', 'client_secret_basic', 'client_secret_post')),
  -- Keyed digest; null for a public client.
  secret_digest blob,
  -- Whether the client uses refresh tokens.
  refreshes integer not null check (refreshes in (0, 1)),
  -- Keyed digest of the address that a client registered itself from; null for a client of an administrator.
  origin_digest blob,
  created_at integer not null,
  -- When it last got a token; null: never.
  used_at integer
) strict;

create index oauth_clients_environment on oauth_clients (environment_id, id);
-- Clients that registered themselves and were never used, the oldest first.
create index oauth_clients_unused on oauth_clients (environment_id, created_at) where used_at is null and kind = 'DYNAMIC';
create index oauth_clients_origin on oauth_clients (environment_id, origin_digest, created_at) where origin_digest is not null;

-- Logins of users for clients of MCP servers, from the authorization request to the code. `token_digest` is the digest of the one secret
-- that takes the login to its next state.
create table oauth_logins (
  id text primary key not null,
  environment_id text not null references environments (id),
  state text not null check (state in ('OPEN', 'COMPLETED', 'CONSENT', 'CODE', 'SPENT')),
  token_digest blob not null,
  browser_digest blob not null,
  -- What the client requested.
  request text not null check (json_valid(request)),
  -- Who the user is; null until the application has said it.
  subject text check (subject is null or json_valid(subject)),
  -- The grant that the code was exchanged for.
  grant_id text,
  created_at integer not null,
  expires_at integer not null
) strict;

create unique index oauth_logins_token on oauth_logins (environment_id, token_digest);
create index oauth_logins_expiry on oauth_logins (environment_id, expires_at);

-- What users have granted to clients of MCP servers. A grant that ends is deleted.
create table oauth_grants (
  id text primary key not null,
  environment_id text not null references environments (id),
  -- The id of a registered client, or the address of a client's document.
  client_id text not null,
  client_name text not null,
  client_kind text not null check (client_kind in ('REGISTERED', 'DYNAMIC', 'DOCUMENT')),
  redirect_host text not null,
  -- The id of a connection or of an MCP config.
  server_id text not null,
  -- As accounts name their owners; an empty text for none.
  organization_id text not null default '',
  user_id text not null default '',
  identifier text not null,
  user_verify_url text,
  scopes text not null check (json_valid(scopes)),
  -- The API client that said who the user is.
  api_client_id text not null,
  -- Number of the refresh token that is valid, and when the ones before it were replaced, the latest first.
  generation integer not null,
  retired_at text not null check (json_valid(retired_at)),
  created_at integer not null,
  used_at integer not null,
  expires_at integer not null
) strict;

create index oauth_grants_environment on oauth_grants (environment_id, id);
create index oauth_grants_identifier on oauth_grants (environment_id, identifier, id);
create index oauth_grants_user on oauth_grants (environment_id, user_id, id);
create index oauth_grants_organization on oauth_grants (environment_id, organization_id, id);
create index oauth_grants_client on oauth_grants (environment_id, client_id, id);
create index oauth_grants_server on oauth_grants (environment_id, server_id, id);
create index oauth_grants_expiry on oauth_grants (environment_id, expires_at);
