-- Sessions of operators in the console. OFFERED: a one-time address was given out, and nobody has used it. OPEN: a browser has the session.
-- `token_digest` is the keyed digest of the token of the address, and then of the cookie. A session that ends is deleted.
create table operator_sessions (
  id text collate "C" primary key not null,
  environment_id text collate "C" not null references environments (id),
  state text collate "C" not null check (state in ('OFFERED', 'OPEN')),
  operator text collate "C" not null,
  role text collate "C" not null check (role in ('OWNER', 'EDITOR', 'VIEWER')),
  token_digest bytea not null,
  created_at bigint not null,
  -- When the session was last used to get an access token; null for an address that was not used.
  used_at bigint,
  expires_at bigint not null
);

create unique index operator_sessions_token on operator_sessions (environment_id, token_digest);
create index operator_sessions_page on operator_sessions (environment_id, id);
create index operator_sessions_expiry on operator_sessions (environment_id, expires_at);
