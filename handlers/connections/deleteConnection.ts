import type { Connections } from '../../core/capabilities/connections.ts';
import { requireConnection } from '../../core/connections/require-connection.ts';
import { ApiError } from '../../core/errors.ts';
import { endGrants } from '../../core/mcp-login/grants.ts';
import type { Handler } from '../../http/contract.ts';

export const deleteConnection: Handler<'deleteConnection', Connections> = (call, reply, connections) =>
  call.commit(async (tx) => {
    const connection = await requireConnection(tx, call.environment.id, call.path.connection_id);
    const accounts = await tx.connections.countAccounts(call.environment.id, connection.id);
    if (accounts > 0) {
      throw new ApiError('CONNECTION_IN_USE', `The connection has ${accounts} connected accounts; delete them first.`);
    }
    const [config] = await tx.mcpConfigs.namesWith(call.environment.id, connection.id);
    if (config !== undefined) {
      throw new ApiError(
        'CONNECTION_IN_USE',
        `The MCP config "${config}" offers tools of the connection; change or delete it first.`,
      );
    }
    await tx.connections.delete(call.environment.id, connection.id);
    await endGrants(tx, connections, call.environment.id, { serverId: connection.id }, 'SERVER_DELETED', call.cause);
    await connections.events.emit(tx, call.cause, {
      type: 'connection.deleted',
      subject: connection.id,
      data: async (show) => ({ connection: await show.connection(connection) }),
    });
    return reply(200, {});
  });
