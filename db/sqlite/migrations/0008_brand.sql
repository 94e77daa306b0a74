-- The logo of an environment. Its type and digest are in the settings of the environment, which every request reads.
create table environment_logos (
  environment_id text primary key not null references environments (id),
  media_type text not null,
  bytes blob not null,
  updated_at integer not null
) strict;

-- The language that the application requested for the pages of a link; null: that of the browser.
alter table auth_requests add column language text;
-- Why the last attempt of a user failed, as an error code of OAuth; null: it did not.
alter table auth_requests add column error text;
