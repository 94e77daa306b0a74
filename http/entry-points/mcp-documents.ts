import { findPattern, findProvider } from '../../core/connections/providers.ts';
import type { Catalogue } from '../../core/connectors/catalogue.ts';
import { isLoopbackName } from '../../core/environments/hosts.ts';
import { ApiError } from '../../core/errors.ts';
import { MCP_PATH, mcpServerUrl } from '../../core/mcp/server-definition.ts';
import { clientDescription, clientDocumentUrl } from '../../core/mcp/upstream/authorization.ts';
import { CHALLENGED_SCOPES, MCP_SCOPES } from '../../core/mcp-login/scopes.ts';
import { clientMetadataDocument } from '../../core/oauth/registration.ts';
import type { Store } from '../../db/store.ts';
import type { Reply } from '../contract.ts';
import type { Environment } from '../pipeline/environments.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { respondUntyped } from '../responses/reply.ts';

export interface McpDocumentDeps {
  readonly store: Pick<Store, 'read' | 'shareReads'>;
  readonly catalogue: Catalogue;
}

/** The documents and headers that tell clients and authorization servers how to get a token for an MCP server. */
export interface McpDocuments {
  /** Returns the protected resource metadata of a server (RFC 9728 §2). */
  server(exchange: Exchange, serverId: string): Promise<Reply>;
  /**
   * Returns the challenge for a request without a sufficient token (RFC 6750 §3, RFC 9728 §5.1). It tells the client
   * where to get a token, and lists all scopes that tools can need (or those of the external authorization server),
   * because clients request exactly the listed scopes.
   */
  challenge(exchange: Exchange, serverId: string, error: string | undefined): Promise<string>;
  /**
   * Returns the OAuth Client ID Metadata Document of a connection whose client id is the address of this document.
   *
   * @throws ApiError NOT_FOUND
   */
  client(environment: Environment, connectionId: string): Promise<Reply>;
}

export function createMcpDocuments({ store: { read }, catalogue }: McpDocumentDeps): McpDocuments {
  /** Returns the external authorization server of an environment, and the scopes that clients request there. */
  async function externalServerOf({
    id,
  }: Environment): Promise<{ issuer: string; scopes: readonly string[] } | undefined> {
    const provider = await read.loginProviders.get(id);
    return provider?.jwt ? { issuer: provider.issuer, scopes: provider.jwt.scopes } : undefined;
  }

  return {
    async server(exchange, serverId) {
      const environment = exchange.environment as Environment;
      const external = await externalServerOf(environment);
      const scopes = external ? external.scopes : MCP_SCOPES;
      const body = {
        resource: mcpServerUrl({ baseUrl: requestedOrigin(exchange) }, serverId),
        authorization_servers: [external?.issuer ?? environment.baseUrl],
        ...(scopes.length > 0 && { scopes_supported: scopes }),
        bearer_methods_supported: ['header'],
      };
      return respondUntyped(200, body);
    },

    async challenge(exchange, serverId, error) {
      const metadata = `${requestedOrigin(exchange)}/.well-known/oauth-protected-resource${MCP_PATH}/${serverId}`;
      const external = await externalServerOf(exchange.environment as Environment);
      const scope = external ? external.scopes.join(' ') : CHALLENGED_SCOPES;
      const parameters = [
        ...(error === undefined ? [] : [`error="${error}"`]),
        `resource_metadata="${metadata}"`,
        ...(scope === '' ? [] : [`scope="${scope}"`]),
      ];
      return `Bearer ${parameters.join(', ')}`;
    },

    async client(environment, connectionId) {
      const connection = await read.connections.get(environment.id, connectionId);
      const clientId = clientDocumentUrl(environment, connectionId);
      if (connection?.clientId !== clientId) throw unknownClient();
      const provider = await findProvider(read, catalogue, environment.id, connection.providerKey);
      const pattern = provider && findPattern(provider, connection.type);
      if (!pattern) throw unknownClient();
      return respondUntyped(200, clientMetadataDocument(clientId, clientDescription(environment, connection, pattern)));
    },
  };
}

function unknownClient(): ApiError {
  return new ApiError('NOT_FOUND', 'The client does not exist.');
}

/**
 * Returns the origin of the server with the host name of the request (RFC 9728 §3.3), because clients compare it with
 * the address that their user has typed. The scheme is that of the base URL, because all names of an environment are
 * behind the same proxy. Loopback names of a development environment use http, because they need no proxy.
 */
function requestedOrigin({ req, environment }: Exchange): string {
  const { baseUrl, kind } = environment as Environment;
  const host = (req.headers.host ?? '').toLowerCase();
  const base = new URL(baseUrl);
  if (host === base.host) return baseUrl;
  const requested = URL.parse(`${base.protocol}//${host}`);
  if (!requested || requested.host === '') return baseUrl;
  const isLocal = kind === 'DEVELOPMENT' && isLoopbackName(requested.hostname);
  return isLocal ? `http://${host}` : requested.origin;
}
