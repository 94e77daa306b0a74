-- no transaction
-- readable-from: 0014
-- Lists of executions with a range of time read the blocks of an environment up to its first or last one in the range, which are a million
-- after 115 days of a call every ten seconds. As points (block, time), an index finds the nearest block to an end among those in the
-- range. Blocks are multiplied, so that the distance of two blocks exceeds that of any two times.
drop index concurrently if exists execution_blocks_from;
create index concurrently execution_blocks_from on execution_blocks using gist (point(block * 1e13::float8, last_started_at));
drop index concurrently if exists execution_blocks_before;
create index concurrently execution_blocks_before on execution_blocks using gist (point(block * 1e13::float8, first_started_at));
