import type { EnvironmentRow, OAuthGrantRow, OAuthLoginRow, ReadRepositories } from '../../db/store.ts';
import { redirectHost } from './redirect-uri.ts';

/**
 * Whether the user must be asked for consent. Consent is not needed in two cases: the client's metadata document is at
 * a host that the environment trusts, or the user already has a grant for the same client, redirect host and server
 * with at least the requested scopes. Even then the user is asked if the client requests it (`prompt=consent`), and if
 * the client registered itself or its redirect URI is not an https URL: any program could claim to be that client.
 */
export async function needsConsent(
  read: Pick<ReadRepositories, 'oauthGrants'>,
  { id: environmentId, settings }: EnvironmentRow,
  { request, subject }: OAuthLoginRow,
): Promise<boolean> {
  const { clientId, clientKind, redirectUri, scopes, serverId, asksConsent } = request;
  if (asksConsent || !subject || clientKind === 'DYNAMIC' || !redirectUri.startsWith('https:')) return true;
  if (clientKind === 'DOCUMENT' && settings.mcpTrustedClientHosts?.includes(new URL(clientId).hostname)) return false;
  const grants = await read.oauthGrants.ofUser(environmentId, subject, serverId);
  const isSame = (grant: OAuthGrantRow) =>
    grant.clientId === clientId &&
    grant.redirectHost === redirectHost(redirectUri) &&
    scopes.every((scope) => grant.scopes.includes(scope));
  return !grants.some(isSame);
}
