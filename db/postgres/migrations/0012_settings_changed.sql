-- readable-from: 0011
-- Servers cache the settings of environments and which events webhooks receive. This tells them to read both again.
create function settings_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('valetkey_settings', '');
  return null;
end $$;

create trigger environments_changed after insert or delete or update of base_url, settings on environments
  for each statement execute function settings_changed();
create trigger environment_hosts_changed after insert or delete or update on environment_hosts
  for each statement execute function settings_changed();
create trigger webhook_endpoints_changed after insert or delete or update of event_types, enabled on webhook_endpoints
  for each statement execute function settings_changed();
