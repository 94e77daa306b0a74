import type { EnvironmentRow } from '../../db/store.ts';
import { moduleOf } from '../authorization/registry.ts';

/**
 * Returns the callback address of a connection. Each connection has its own address, so that a response of one provider
 * cannot be used for a connection to another provider (threat L9).
 */
export function callbackUrl({ baseUrl }: Pick<EnvironmentRow, 'baseUrl'>, connectionId: string): string {
  return `${baseUrl}/oauth/callback/${connectionId}`;
}

/**
 * Returns the callback address to register at the provider for a connection; an empty string for authorization types
 * without consent at the provider.
 */
export function registeredCallbackUrl(
  environment: Pick<EnvironmentRow, 'baseUrl'>,
  { id, type }: { id: string; type: string },
): string {
  return moduleOf(type).consent ? callbackUrl(environment, id) : '';
}
