-- Who identifies the users of MCP clients, if it is not the application: an OpenID provider at which they log in (OIDC), or an external
-- authorization server whose access tokens are accepted (JWT). An environment has at most one.
create table login_providers (
  id text collate "C" primary key not null,
  environment_id text collate "C" not null references environments (id),
  type text collate "C" not null check (type in ('OIDC', 'JWT')),
  issuer text collate "C" not null,
  claims text collate "C" not null,
  -- Null: all organizations are allowed.
  allowed_organizations text collate "C",
  user_verify_url text collate "C",
  oidc text collate "C",
  jwt text collate "C",
  data_key bigint,
  kek_id text collate "C" references key_checks (kek_id),
  client_secret_sealed bytea,
  created_at bigint not null,
  updated_at bigint not null,
  check ((oidc is null) <> (jwt is null)),
  check ((data_key is null) = (client_secret_sealed is null)),
  check ((kek_id is null) = (client_secret_sealed is null))
);

create unique index login_providers_environment on login_providers (environment_id);
create index login_providers_kek on login_providers (kek_id) where kek_id is not null;

create trigger login_providers_data_key_replaced after update of data_key on login_providers for each row
  when (old.data_key is distinct from new.data_key) execute function delete_data_key();
create trigger login_providers_data_key_removed after delete on login_providers for each row execute function delete_data_key();
