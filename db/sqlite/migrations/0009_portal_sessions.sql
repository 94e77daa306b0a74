-- Sessions in which users see and manage their accounts. `token_digest` is the digest of the secret in the one-time URL, and after that URL
-- was opened, of the cookie. A session that ends is deleted.
create table portal_sessions (
  id text primary key not null,
  environment_id text not null references environments (id),
  state text not null check (state in ('CREATED', 'OPEN')),
  token_digest blob not null,
  -- As accounts name their owners; an empty text for none.
  organization_id text not null default '',
  user_id text not null default '',
  identifier text not null,
  user_verify_url text,
  return_url text,
  -- The language that the application requested; null: that of the browser.
  language text,
  -- The API client that created the session.
  api_client_id text not null,
  created_at integer not null,
  expires_at integer not null
) strict;

create unique index portal_sessions_token on portal_sessions (environment_id, token_digest);
create index portal_sessions_expiry on portal_sessions (environment_id, expires_at);
