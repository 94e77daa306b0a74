-- How environments show and restrict tools, by the own names of the tools. A tool of the catalogue has no row that could be referred to.
-- Servers of the previous version would run tools without their overlays, so they must not use the database after this migration.
create table tool_overlays (
  environment_id text not null references environments (id),
  tool_name text not null,
  -- The name of the tool in the environment; null: its own.
  new_name text,
  -- {hidden, title, addedDescription, presetInputs, allowedValues}
  settings text not null check (json_valid(settings)),
  -- The digest of the inputs and the request of the tool that the overlay was made for, hexadecimal.
  tool_digest text not null,
  created_at integer not null,
  updated_at integer not null,
  primary key (environment_id, tool_name)
) strict, without rowid;

create unique index tool_overlays_new_name on tool_overlays (environment_id, new_name) where new_name is not null;
