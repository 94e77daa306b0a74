import type { EnvironmentRow, OperatorRole, Store } from '../../db/store.ts';
import { type OperatorDeps, offerSession } from './sessions.ts';

/** The path of the console, the web pages for operators. */
export const CONSOLE_PATH = '/console';

/**
 * Returns the one-time address for a token. The token is in the fragment. Browsers do not send the fragment to servers,
 * so no log contains the token.
 */
export function loginAddress({ baseUrl }: Pick<EnvironmentRow, 'baseUrl'>, token: string): string {
  return `${baseUrl}${CONSOLE_PATH}/login#${token}`;
}

/**
 * Creates an operator session and returns the one-time address that opens it. Used by the command line, without an
 * authenticated caller, so the actor in the audit log is `operator`.
 *
 * @throws ApiError TOO_MANY_SESSIONS
 */
export async function createAddress(
  store: Pick<Store, 'write'>,
  deps: OperatorDeps,
  environment: EnvironmentRow,
  operator: { operator: string; role: OperatorRole },
): Promise<string> {
  const cause = { environmentId: environment.id, actor: 'operator', requestId: '' };
  const { token } = await store.write((tx) => offerSession(tx, deps, cause, operator));
  return loginAddress(environment, token);
}
