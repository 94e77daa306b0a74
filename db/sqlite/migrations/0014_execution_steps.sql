-- readable-from: 0013
-- The requests, waits and refreshes of an execution with more than one step, as JSON without contents.
alter table executions add column steps text check (json_valid(steps) and length(steps) <= 10000);
