import type { EnvironmentId } from '../../db/store.ts';

/** The actor who caused an event, and the request. */
export interface Cause {
  environmentId: EnvironmentId;
  /**
   * Who caused the event: the id of a client, portal session or login provider, `mcp_client`, `link`, `operator`,
   * `operator:<name>`, or `system` if the server itself did.
   */
  actor: string;
  requestId: string;
}
