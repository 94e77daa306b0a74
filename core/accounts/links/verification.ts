import type { ConnectionRow, EnvironmentRow } from '../../../db/store.ts';
import { isLoopbackUrl } from './verify-url.ts';

/**
 * The `userVerifyUrl` of a link whose user is verified by the login provider of the environment: a path of this server,
 * to which the user is redirected instead of to the application.
 */
export const PROVIDER_VERIFICATION = '/connect/verify';

/**
 * Whether a connection accepts every user who finishes a link, without verification (threat L4). This is allowed only
 * in a development environment whose base URL is on the developer's own machine.
 */
export function isVerificationOff(
  connection: Pick<ConnectionRow, 'verificationMode'>,
  environment: Pick<EnvironmentRow, 'kind' | 'baseUrl'>,
): boolean {
  return connection.verificationMode === 'NONE' && mayTurnVerificationOff(environment);
}

export function mayTurnVerificationOff({ kind, baseUrl }: Pick<EnvironmentRow, 'kind' | 'baseUrl'>): boolean {
  return kind === 'DEVELOPMENT' && isLoopbackUrl(baseUrl);
}
