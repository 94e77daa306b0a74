import type { EnvironmentRow, OAuthGrantRow, OAuthLoginRow, ReadRepositories } from '../../db/store.ts';
import { redirectHost } from './redirect-uri.ts';

/**
 * Whether the user must be asked for consent. This is so with two exceptions: the user already has a grant for the same
 * client, redirect host and server with at least the requested scopes, or the client's metadata document is at a
 * trusted host. Both require an https redirect URI. A client that registered itself, or whose redirect URI is on the
 * user's machine, could be any program, so its user is always asked. The user is also asked if the client requests it
 * (`prompt=consent`).
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
