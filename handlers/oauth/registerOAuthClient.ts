import type { McpLogins } from '../../core/capabilities/mcp-logins.ts';
import type { Handler } from '../../http/contract.ts';
import { currentEnvironment } from '../current-environment.ts';

const STATUS = {
  invalid_redirect_uri: 400,
  invalid_client_metadata: 400,
  access_denied: 403,
  too_many: 429,
} as const;
const RETRY_AFTER = { 'retry-after': '3600' };

/** Registers a client dynamically (RFC 7591 §3). */
export const registerOAuthClient: Handler<'registerOAuthClient', McpLogins> = async (call, reply, logins) => {
  const { registerDynamicClient } = await import('../../core/mcp-login/register-client.ts');
  const environment = await currentEnvironment(logins.store.read, call.environment.id);
  const cause = { ...call.cause, actor: 'mcp_client' };
  const registered = await registerDynamicClient(logins, environment, call.body, call.address, cause);
  if (!registered.ok) {
    const { error, description } = registered;
    if (error !== 'too_many') return reply(STATUS[error], { error, error_description: description });
    return reply(429, { error: 'temporarily_unavailable', error_description: description }, RETRY_AFTER);
  }
  const { client, secret } = registered;
  return reply(201, {
    client_id: client.id,
    client_id_issued_at: Math.floor(client.createdAt / 1000),
    ...(secret && { client_secret: secret.reveal(), client_secret_expires_at: 0 }),
    client_name: client.name,
    redirect_uris: client.redirectUris,
    grant_types: ['authorization_code', ...(client.refreshes ? ['refresh_token'] : [])],
    response_types: ['code'],
    token_endpoint_auth_method: client.authMethod,
  });
};
