import type { EnvironmentRow, OAuthGrantRow, OAuthLoginRow, ReadRepositories } from '../../db/store.ts';
import { redirectHost } from './redirect-uri.ts';

/**
 * Whether the user has to be asked. A client that only a page of a known host can be, because it returns by https, is not asked about
 * twice, as long as the user's grant lasts; nor is one whose document is at a host that the environment trusts. A client that registered
 * itself, or returns to a program of the user's machine, could be any program: the user is always asked.
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
