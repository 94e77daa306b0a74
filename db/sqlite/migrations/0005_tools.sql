-- Tools that an environment has of its own. Those of the catalogue come with the program and stand in no table.
create table environment_tools (
  environment_id text not null references environments (id),
  name text not null,
  -- The identifier of the provider whose accounts run it.
  connector text not null,
  source text not null check (source in ('custom', 'import', 'mcp')),
  -- What its source calls it (an operation's id, an MCP tool's name). It locks the name: whoever reads the source again finds
  -- the tool by it.
  source_id text,
  definition text not null check (json_valid(definition)),
  -- SHA-256 of the definition's text, hexadecimal.
  content_hash text not null,
  -- Why a tool whose source has changed waits for a person; null for one that may be run.
  flagged text,
  -- The environment's revision in which this row was last written: who keeps a copy reads what came after it.
  revision integer not null,
  version integer not null default 1,
  created_at integer not null,
  updated_at integer not null,
  primary key (environment_id, name)
) strict;

create unique index environment_tools_source on environment_tools (environment_id, connector, source, source_id)
  where source_id is not null;
create index environment_tools_connector on environment_tools (environment_id, connector, name);
create index environment_tools_description
  on environment_tools (environment_id, connector, trim(json_extract(definition, '$.description'), char(9, 10, 13, 32)));
create index environment_tools_revision on environment_tools (environment_id, revision, name);

-- Moves with every change of an environment's tools, deletions included.
create table environment_tool_revisions (
  environment_id text primary key not null references environments (id),
  revision integer not null
) strict, without rowid;
