import type { EnvironmentId } from '../../db/store.ts';

/** Who caused an event, and in which request. */
export interface Cause {
  environmentId: EnvironmentId;
  /** The id of the API client, `mcp_client`, `operator`, or `system` if the server itself caused the event. */
  actor: string;
  requestId: string;
}
