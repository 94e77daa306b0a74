import type { EnvironmentRow } from '../../db/store.ts';
import { moduleOf } from '../authorization/registry.ts';

/**
 * Each connection has its own callback address, so a response is accepted only from the connection's own provider
 * (threat L9).
 */
export function callbackUrl({ baseUrl }: Pick<EnvironmentRow, 'baseUrl'>, connectionId: string): string {
  return `${baseUrl}/oauth/callback/${connectionId}`;
}

/**
 * Returns the address to register at the provider for a connection; empty if users of its type do not consent at the
 * provider.
 */
export function registeredCallbackUrl(
  environment: Pick<EnvironmentRow, 'baseUrl'>,
  { id, type }: { id: string; type: string },
): string {
  return moduleOf(type).consent ? callbackUrl(environment, id) : '';
}
