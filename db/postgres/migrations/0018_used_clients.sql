-- readable-from: 0014
-- Clients that registered themselves and were used, the one that was used least recently first.
create index oauth_clients_used on oauth_clients (environment_id, used_at) where used_at is not null and kind = 'DYNAMIC';
