import type { McpLogins } from '../../core/capabilities/mcp-logins.ts';
import { ApiError } from '../../core/errors.ts';
import { shownName } from '../../core/mcp-login/client-metadata.ts';
import { schemesOf } from '../../core/mcp-login/clients.ts';
import { redirectUriProblem } from '../../core/mcp-login/redirect-uri.ts';
import { insertClient, requireMcpClientSpace } from '../../core/mcp-login/register-client.ts';
import { presentMcpClient } from '../../core/present/mcp-client.ts';
import type { Handler } from '../../http/contract.ts';
import { currentEnvironment } from '../current-environment.ts';

export const createMcpClient: Handler<'createMcpClient', McpLogins> = (call, reply, logins) =>
  call.commit(async (tx) => {
    const { name, redirect_uris: redirectUris, token_endpoint_auth_method: authMethod = 'none' } = call.body;
    const environment = await currentEnvironment(tx, call.environment.id);
    const errors = redirectUris.flatMap((uri, index) => {
      const message = redirectUriProblem(uri, schemesOf(environment));
      return message ? [{ field: `redirect_uris[${index}]`, message }] : [];
    });
    if (!shownName(name)) errors.push({ field: 'name', message: 'has no visible characters' });
    if (errors.length > 0) throw new ApiError('VALIDATION_FAILED', 'The client is invalid.', { errors });
    await requireMcpClientSpace(tx, environment.id);
    const metadata = { name: shownName(name) ?? '', redirectUris, authMethod, refreshes: true, originDigest: null };
    const { client, secret } = await insertClient(tx, logins, environment, metadata, call.cause);
    return reply(201, { client: presentMcpClient(client), client_secret: secret?.reveal() ?? null });
  });
