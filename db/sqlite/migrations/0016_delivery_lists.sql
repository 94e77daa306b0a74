-- readable-from: 0014
-- The indexes contain what lists filter by: reading each delivery with its last attempt took fifteen times as long.
drop index webhook_deliveries_list;
drop index webhook_deliveries_endpoint;
create index webhook_deliveries_list on webhook_deliveries (environment_id, id, event_type, state);
create index webhook_deliveries_endpoint on webhook_deliveries (endpoint_id, id, environment_id, event_type, state);
