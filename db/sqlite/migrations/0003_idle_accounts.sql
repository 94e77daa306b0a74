-- Accounts in use by the end of their tokens: an end that lies far back is a grant that nobody has refreshed for long.
create index accounts_idle on accounts (environment_id, provider, authorization_type, token_expires_at)
  where status = 'ACTIVE' and token_expires_at is not null;
