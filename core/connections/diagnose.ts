import type { ConnectionRow } from '../../db/store.ts';
import { moduleOf } from '../authorization/registry.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import type { Check } from '../oauth/check.ts';
import { type InspectRequest, inspectProvider } from '../oauth/inspect.ts';
import { inspectConnection } from './inspect.ts';

/**
 * Compares a connection with its connector, and the connector's OAuth addresses and capabilities with what the provider
 * publishes. No request contains a credential or a client id.
 *
 * @param connection the connection, whose type selects the pattern; undefined to check all patterns of the connector
 * @param request.issuer the issuer to ask, if the connector names none
 * @returns one check per compared value; the checks may contain text from the provider
 */
export async function diagnose(
  provider: ProviderDefinition,
  connection: ConnectionRow | undefined,
  request: Omit<InspectRequest, 'pattern'>,
): Promise<Check[]> {
  const patterns = provider.authPatterns.filter(
    ({ type }) => moduleOf(type).metadataGrant !== undefined && (connection === undefined || connection.type === type),
  );
  const checks = connection === undefined ? [] : inspectConnection(provider, connection);
  for (const pattern of patterns) checks.push(...(await inspectProvider({ ...request, pattern })));
  return checks;
}
