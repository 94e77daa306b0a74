import type { EnvironmentRow, OAuthGrantRow, ReadRepositories } from '../../db/store.ts';
import { type ClientDocuments, isDocumentUrl } from './client-document.ts';
import type { ClientMetadata } from './client-metadata.ts';
import { DEFAULT_SCHEMES } from './redirect-uri.ts';

/** An OAuth client for which users log in to an MCP server. */
export interface LoginClient extends ClientMetadata {
  id: string;
  kind: OAuthGrantRow['clientKind'];
}

export type FoundClient = { ok: true; client: LoginClient } | { ok: false; busy?: true; message: string };

/**
 * Finds the client of an authorization request: a registered client, or one whose ID is the URL of its metadata
 * document.
 *
 * @returns a message for the error page if the client is unknown or its document cannot be used; `busy` if too many
 * documents are being fetched
 */
export async function findClient(
  read: ReadRepositories,
  documents: ClientDocuments,
  environment: EnvironmentRow,
  id: string,
): Promise<FoundClient> {
  if (isDocumentUrl(id)) {
    const document = await documents.read(environment, id, schemesOf(environment));
    return document.ok ? { ok: true, client: { ...document.metadata, id, kind: 'DOCUMENT' } } : document;
  }
  const row = await read.oauthClients.get(environment.id, id);
  if (!row)
    return {
      ok: false,
      message:
        'The application that opened this page is not registered here. In that application, remove this MCP server and add it again.',
    };
  const { name, redirectUris, authMethod, refreshes, kind } = row;
  return { ok: true, client: { id, kind, name, redirectUris, authMethod, refreshes } };
}

/** Returns the private-use URI schemes (RFC 8252 §7.1) that an environment accepts in redirect URIs. */
export function schemesOf({ settings }: Pick<EnvironmentRow, 'settings'>): readonly string[] {
  return settings.mcpRedirectSchemes ?? DEFAULT_SCHEMES;
}

/** The digest that a client's secret is compared with; null for a public client, which has no secret. */
export interface ClientAuthentication {
  secretDigest: Buffer | null;
}

/**
 * Finds how a client authenticates at the token endpoint; undefined for an unknown client. A metadata document is not
 * read here: its client was accepted when the user logged in, and is public.
 */
export async function findClientAuthentication(
  read: Pick<ReadRepositories, 'oauthClients'>,
  environmentId: EnvironmentRow['id'],
  id: string,
): Promise<ClientAuthentication | undefined> {
  if (isDocumentUrl(id)) return { secretDigest: null };
  return read.oauthClients.get(environmentId, id);
}
