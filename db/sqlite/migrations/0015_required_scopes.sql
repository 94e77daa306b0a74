-- readable-from: 0013
-- The scopes that the MCP server of an account required beyond those of its token, as a JSON list; links request them.
alter table accounts add column required_scopes text check (json_valid(required_scopes) and length(required_scopes) <= 20000);
