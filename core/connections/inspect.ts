import type { ConnectionRow } from '../../db/store.ts';
import { moduleOf } from '../authorization/registry.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import type { Check } from '../oauth/check.ts';
import { findPattern } from './providers.ts';
import { requestedScopes } from './scopes.ts';

/** Compares the settings of a connection with its connector, without decrypting the secret. */
export function inspectConnection(provider: ProviderDefinition, connection: ConnectionRow): Check[] {
  const { providerKey, enabled, type, clientId, clientSecretSealed } = connection;
  const check = (what: string, isSo: boolean, expected: string, found: string): Check => ({
    what: `connection ${what}`,
    verdict: isSo ? 'ok' : 'differs',
    expected,
    found,
  });
  const checks = [
    check('connector', providerKey === provider.identifier, provider.identifier, providerKey),
    check('enabled', enabled, 'true', String(enabled)),
  ];
  const pattern = findPattern(provider, type);
  const offered = provider.authPatterns.map((one) => one.type).join(', ');
  checks.push(check('type', pattern !== undefined, `one of ${offered}`, type));
  if (pattern?.oauth_config === undefined || !moduleOf(type).metadataGrant) return checks;
  const { client_auth_method: method, available_scopes = [] } = pattern.oauth_config;
  checks.push(check('client_id', !!clientId || pattern.is_mcp === true, 'a client id', clientId || 'none'));
  const isPublic = method === 'none' || pattern.is_mcp === true;
  const hasSecret = clientSecretSealed !== null;
  checks.push(
    check('client_secret', hasSecret || isPublic, isPublic ? 'one or none' : 'one', hasSecret ? 'one' : 'none'),
  );
  const known = available_scopes.map(({ scope }) => scope);
  const unknown = requestedScopes(connection, pattern).filter((scope) => !known.includes(scope));
  if (known.length === 0) return checks;
  const expected = 'scopes that the connector describes';
  if (unknown.length === 0) return [...checks, check('scopes', true, expected, 'all described')];
  // A provider may support scopes that its connector does not list.
  return [...checks, { what: 'connection scopes', verdict: 'unknown', expected, found: unknown.join(', ') }];
}
