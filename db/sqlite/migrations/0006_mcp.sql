-- MCP servers over several connections. `mappings` is a list of {connectionId, tools}: tools null offers every tool of the connection.
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
