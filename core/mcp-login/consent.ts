import type { EnvironmentRow, OAuthGrantRow, OAuthLoginRow, ReadRepositories } from '../../db/store.ts';
import { redirectHost } from './redirect-uri.ts';

/**
 * Whether the user must be asked for consent. Consent is not needed again while a grant with the same client, redirect
 * host, server and scopes exists, or for clients whose metadata document is at a trusted host. Both exceptions require
 * an https redirect URI. A client that registered itself, or whose redirect URI is on the user's machine, could be any
 * program, so the user is always asked.
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
