-- Sessions of operators in the console. OFFERED: a one-time address was given out, and nobody has used it. OPEN: a browser has the session.
-- `token_digest` is the keyed digest of the token of the address, and then of the cookie. A session that ends is deleted.
create table operator_sessions (
  id text primary key not null,
  environment_id text not null references environments (id),
  state text not null check (state in ('OFFERED', 'OPEN')),
  operator text not null,
  role text not null check (role in ('OWNER', 'EDITOR', 'VIEWER')),
  token_digest blob not null,
  created_at integer not null,
  -- When the session was last used to get an access token; null for an address that was not used.
  used_at integer,
  expires_at integer not null
) strict;

create unique index operator_sessions_token on operator_sessions (environment_id, token_digest);
create index operator_sessions_page on operator_sessions (environment_id, id);
create index operator_sessions_expiry on operator_sessions (environment_id, expires_at);
