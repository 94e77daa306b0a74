import type { ConnectionRow, EnvironmentRow } from '../../../db/store.ts';
import { isLoopbackUrl } from './verify-url.ts';

/**
 * Whether a connection lets anyone who finishes a link in (threat L4). Only where nobody but the developer can open one: in a
 * development environment whose addresses lead to the developer's own machine.
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
