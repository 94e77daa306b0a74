import type { Scenario } from './scenario.ts';
import { FIRST_USES } from './scenarios/first-uses.ts';
import { IMPORTS } from './scenarios/imports.ts';
import { LARGE_DATA } from './scenarios/large-data.ts';
import { LISTS_AND_STREAMS } from './scenarios/lists-and-streams.ts';
import { LONG_HEADERS } from './scenarios/long-headers.ts';
import { MCP_SERVERS } from './scenarios/mcp-servers.ts';
import { REQUESTS } from './scenarios/requests.ts';
import { RESPONSES } from './scenarios/responses.ts';
import { USERS_AND_OPERATORS } from './scenarios/users-and-operators.ts';

export const SCENARIOS: readonly Scenario[] = [
  ...RESPONSES,
  ...REQUESTS,
  ...LONG_HEADERS,
  ...MCP_SERVERS,
  ...LARGE_DATA,
  ...FIRST_USES,
  ...IMPORTS,
  ...USERS_AND_OPERATORS,
  ...LISTS_AND_STREAMS,
];
