import type { McpLogins } from '../../core/capabilities/mcp-logins.ts';
import { ApiError } from '../../core/errors.ts';
import { presentMcpLoginProvider } from '../../core/present/mcp-login-provider.ts';
import type { Handler } from '../../http/contract.ts';

export const getMcpLoginProvider: Handler<'getMcpLoginProvider', McpLogins> = async (call, reply, { store }) => {
  const provider = await store.read.loginProviders.get(call.environment.id);
  if (!provider) throw new ApiError('NOT_FOUND', 'The environment has no login provider.');
  return reply(200, { login_provider: presentMcpLoginProvider(call.environment, provider) });
};
