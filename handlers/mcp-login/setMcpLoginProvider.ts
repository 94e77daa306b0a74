import type { McpLogins } from '../../core/capabilities/mcp-logins.ts';
import { checkLoginProvider } from '../../core/mcp-login/check-login-provider.ts';
import { loginProviderOf } from '../../core/mcp-login/login-provider.ts';
import { presentMcpLoginProvider } from '../../core/present/mcp-login-provider.ts';
import type { Handler } from '../../http/contract.ts';
import { currentEnvironment } from '../current-environment.ts';

export const setMcpLoginProvider: Handler<'setMcpLoginProvider', McpLogins> = async (call, reply, logins) => {
  const { id: environmentId } = call.environment;
  const environment = await currentEnvironment(logins.store.read, environmentId);
  await checkLoginProvider(logins, environment, call.body);
  return call.commit(async (tx) => {
    const present = await tx.loginProviders.get(environmentId);
    const provider = loginProviderOf(logins, await currentEnvironment(tx, environmentId), call.body, present);
    await tx.loginProviders.replace(environmentId, provider);
    await logins.events.emit(tx, call.cause, {
      type: 'mcp_login_provider.updated',
      subject: provider.id,
      data: async (show) => ({ login_provider: await show.mcpLoginProvider(provider) }),
    });
    return reply(200, { login_provider: presentMcpLoginProvider(environment, provider) });
  });
};
