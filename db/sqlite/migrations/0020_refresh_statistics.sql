-- readable-from: 0014
-- Refreshes of tokens, counted by the hour in which their outcome was stored (hours since 1970, UTC), connector and outcome. The unit of
-- work that stores an outcome adds a row of one refresh, so no statistic reads accounts or audit records.
create table refresh_statistics (
  environment_id text not null references environments (id),
  hour integer not null,
  connector text not null,
  outcome text not null check (outcome in ('SUCCEEDED', 'EXPIRED', 'FAILED')),
  -- Empty if `outcome` is not FAILED.
  error_kind text not null,
  total integer not null check (total >= 0),
  primary key (environment_id, hour, connector, outcome, error_kind)
) strict, without rowid;

-- An added row of a count that exists is added to it.
create trigger refresh_statistics_add before insert on refresh_statistics
when exists (select 1 from refresh_statistics where environment_id = new.environment_id and hour = new.hour
  and connector = new.connector and outcome = new.outcome and error_kind = new.error_kind)
begin
  update refresh_statistics set total = total + new.total where environment_id = new.environment_id and hour = new.hour
    and connector = new.connector and outcome = new.outcome and error_kind = new.error_kind;
  select raise(ignore);
end;
