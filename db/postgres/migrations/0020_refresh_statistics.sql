-- readable-from: 0014
-- Refreshes of tokens, counted by the hour in which their outcome was stored (hours since 1970, UTC), connector and outcome: sums of rows.
-- The unit of work that stores an outcome adds a row of one refresh, so no statistic reads accounts or audit records.
create table refresh_statistics (
  environment_id text collate "C" not null,
  hour bigint not null,
  connector text collate "C" not null,
  outcome text collate "C" not null,
  -- Empty if `outcome` is not FAILED.
  error_kind text collate "C" not null,
  total bigint not null
);

create index refresh_statistics_key on refresh_statistics (environment_id, hour, connector, outcome, error_kind);

-- Joins the rows of each count into one, as `fold_counts` does, and under the same rules.
create function fold_refresh_statistics() returns void language plpgsql as $$
begin
  if not pg_try_advisory_xact_lock(hashtext('valetkey fold_refresh_statistics')) then return; end if;
  with many as (select environment_id, hour, connector, outcome, error_kind from refresh_statistics
      group by 1, 2, 3, 4, 5 having count(*) > 1),
    removed as (delete from refresh_statistics as t using many where t.environment_id = many.environment_id and t.hour = many.hour
      and t.connector = many.connector and t.outcome = many.outcome and t.error_kind = many.error_kind returning t.*)
    insert into refresh_statistics select environment_id, hour, connector, outcome, error_kind, sum(total) from removed group by 1, 2, 3, 4, 5;
end $$;
