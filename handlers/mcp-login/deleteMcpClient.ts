import type { McpLogins } from '../../core/capabilities/mcp-logins.ts';
import { requireFound } from '../../core/errors.ts';
import { endGrants } from '../../core/mcp-login/grants.ts';
import type { Handler } from '../../http/contract.ts';

export const deleteMcpClient: Handler<'deleteMcpClient', McpLogins> = (call, reply, logins) =>
  call.commit(async (tx) => {
    const environmentId = call.environment.id;
    const client = requireFound(await tx.oauthClients.get(environmentId, call.path.client_id), 'The MCP client');
    await tx.oauthClients.delete(environmentId, client.id);
    await endGrants(tx, logins, environmentId, { clientId: client.id }, 'CLIENT_DELETED', call.cause);
    await logins.events.emit(tx, call.cause, {
      type: 'mcp_client.deleted',
      subject: client.id,
      data: (show) => ({ client: show.mcpClient(client) }),
    });
    return reply(200, {});
  });
