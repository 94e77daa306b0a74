-- Ended executions, counted by the hour in which they ended (hours since 1970, UTC), tool, outcome and duration: sums of rows. A trigger
-- counts each one when it ends, so no statistic reads executions. `up_to_ms` is the smallest of fixed bounds that the duration does not
-- exceed, or 0 for a longer one. The counts remain when executions are deleted, and are deleted after their own time.
create table execution_statistics (
  environment_id text collate "C" not null,
  hour bigint not null,
  connector text collate "C" not null,
  tool_name text collate "C" not null,
  status text collate "C" not null,
  -- Empty if `status` is not FAILED, or if the call was not sent.
  error_kind text collate "C" not null,
  up_to_ms bigint not null,
  total bigint not null
);

create index execution_statistics_key on execution_statistics
  (environment_id, hour, connector, tool_name, status, error_kind, up_to_ms);

create function execution_measured() returns trigger language plpgsql as $$
declare
  duration bigint := new.finished_at - new.started_at;
begin
  insert into execution_statistics (environment_id, hour, connector, tool_name, status, error_kind, up_to_ms, total)
    values (new.environment_id, new.finished_at / 3600000, new.connector, new.tool_name, new.status, coalesce(new.error_kind, ''),
      coalesce((select min(bound) from unnest(
        array[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 60000]) as bound where bound >= duration), 0), 1);
  return null;
end $$;

create trigger executions_measured after update of status on executions for each row
  when (old.status = 'STARTED' and new.status <> 'STARTED') execute function execution_measured();

-- Joins the rows of each count into one, as `fold_counts` does, and under the same rules.
create function fold_execution_statistics() returns void language plpgsql as $$
begin
  if not pg_try_advisory_xact_lock(hashtext('valetkey fold_execution_statistics')) then return; end if;
  with many as (select environment_id, hour, connector, tool_name, status, error_kind, up_to_ms from execution_statistics
      group by 1, 2, 3, 4, 5, 6, 7 having count(*) > 1),
    removed as (delete from execution_statistics as t using many where t.environment_id = many.environment_id and t.hour = many.hour
      and t.connector = many.connector and t.tool_name = many.tool_name and t.status = many.status
      and t.error_kind = many.error_kind and t.up_to_ms = many.up_to_ms returning t.*)
    insert into execution_statistics select environment_id, hour, connector, tool_name, status, error_kind, up_to_ms, sum(total)
      from removed group by 1, 2, 3, 4, 5, 6, 7;
end $$;
