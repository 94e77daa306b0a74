import type { EnvironmentId } from '../../db/store.ts';

/** The actor who caused an event, and the request. */
export interface Cause {
  environmentId: EnvironmentId;
  /** The id of the API client, `mcp_client`, `operator`, or `system` if the server itself caused the event. */
  actor: string;
  requestId: string;
}
