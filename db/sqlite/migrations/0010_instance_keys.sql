-- readable-from: 0009
-- The ids of the encryption keys that each running server has, the active one first, as JSON.
alter table instances add column keys text not null default '[]' check (json_valid(keys));
