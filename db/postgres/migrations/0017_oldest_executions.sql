-- no transaction
-- readable-from: 0014
-- The search for executions to be deleted read all blocks of an environment each minute, most often for none. The number of the
-- environment is in the bits of `block` from 30 on.
drop index concurrently if exists execution_blocks_first;
create index concurrently execution_blocks_first on execution_blocks ((block >> 30), first_started_at);
