-- Sessions in which users see and manage their accounts. `token_digest` is the digest of the secret in the one-time URL, and after that URL
-- was opened, of the cookie. A session that ends is deleted.
create table portal_sessions (
  id text collate "C" primary key not null,
  environment_id text collate "C" not null references environments (id),
  state text collate "C" not null check (state in ('CREATED', 'OPEN')),
  token_digest bytea not null,
  -- As accounts name their owners; an empty text for none.
  organization_id text collate "C" not null default '',
  user_id text collate "C" not null default '',
  identifier text collate "C" not null,
  user_verify_url text collate "C",
  return_url text collate "C",
  -- The language that the application requested; null: that of the browser.
  language text collate "C",
  -- The API client that created the session.
  api_client_id text collate "C" not null,
  created_at bigint not null,
  expires_at bigint not null
);

create unique index portal_sessions_token on portal_sessions (environment_id, token_digest);
create index portal_sessions_expiry on portal_sessions (environment_id, expires_at);
