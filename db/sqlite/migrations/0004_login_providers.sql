-- Who identifies the users of MCP clients, if it is not the application: an OpenID provider at which they log in (OIDC), or an external
-- authorization server whose access tokens are accepted (JWT). An environment has at most one.
create table login_providers (
  id text primary key not null,
  environment_id text not null references environments (id),
  type text not null check (type in ('OIDC', 'JWT')),
  issuer text not null,
  claims text not null check (json_valid(claims)),
  -- Null: all organizations are allowed.
  allowed_organizations text check (allowed_organizations is null or json_valid(allowed_organizations)),
  user_verify_url text,
  oidc text check (oidc is null or json_valid(oidc)),
  jwt text check (jwt is null or json_valid(jwt)),
  data_key integer references data_keys (slot),
  kek_id text references key_checks (kek_id),
  client_secret_sealed blob,
  created_at integer not null,
  updated_at integer not null,
  check ((oidc is null) <> (jwt is null)),
  check ((data_key is null) = (client_secret_sealed is null)),
  check ((kek_id is null) = (client_secret_sealed is null))
) strict;

create unique index login_providers_environment on login_providers (environment_id);
create index login_providers_kek on login_providers (kek_id) where kek_id is not null;

create trigger login_providers_data_key_replaced after update of data_key on login_providers
when old.data_key is not null and new.data_key is not old.data_key begin
  update data_keys set used = 0, wrapped = zeroblob(128) where slot = old.data_key;
end;

create trigger login_providers_data_key_removed after delete on login_providers when old.data_key is not null begin
  update data_keys set used = 0, wrapped = zeroblob(128) where slot = old.data_key;
end;
