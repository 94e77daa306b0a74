-- Ended executions, counted by the hour in which they ended (hours since 1970, UTC), tool, outcome and duration. Triggers count each one
-- when it ends, so no statistic reads executions. `up_to_ms` is the smallest of fixed bounds that the duration does not exceed, or 0 for
-- a longer one. The counts remain when executions are deleted, and are deleted after their own time.
create table execution_statistics (
  environment_id text not null references environments (id),
  hour integer not null,
  connector text not null,
  tool_name text not null,
  status text not null check (status in ('SUCCEEDED', 'FAILED', 'UNKNOWN')),
  -- Empty if `status` is not FAILED, or if the call was not sent.
  error_kind text not null,
  up_to_ms integer not null,
  total integer not null check (total >= 0),
  primary key (environment_id, hour, connector, tool_name, status, error_kind, up_to_ms)
) strict, without rowid;

create trigger execution_statistics_end after update of status on executions
when old.status = 'STARTED' and new.status <> 'STARTED' begin
  insert into execution_statistics (environment_id, hour, connector, tool_name, status, error_kind, up_to_ms, total)
    values (new.environment_id, new.finished_at / 3600000, new.connector, new.tool_name, new.status, coalesce(new.error_kind, ''),
      case
        when new.finished_at - new.started_at <= 1 then 1
        when new.finished_at - new.started_at <= 2 then 2
        when new.finished_at - new.started_at <= 5 then 5
        when new.finished_at - new.started_at <= 10 then 10
        when new.finished_at - new.started_at <= 20 then 20
        when new.finished_at - new.started_at <= 50 then 50
        when new.finished_at - new.started_at <= 100 then 100
        when new.finished_at - new.started_at <= 200 then 200
        when new.finished_at - new.started_at <= 500 then 500
        when new.finished_at - new.started_at <= 1000 then 1000
        when new.finished_at - new.started_at <= 2000 then 2000
        when new.finished_at - new.started_at <= 5000 then 5000
        when new.finished_at - new.started_at <= 10000 then 10000
        when new.finished_at - new.started_at <= 20000 then 20000
        when new.finished_at - new.started_at <= 60000 then 60000
        else 0
      end, 1)
    on conflict do update set total = total + 1;
end;
