import type { Service } from '../../core/capabilities/service.ts';
import type { Handler } from '../../http/contract.ts';

export const getReadiness: Handler<'getReadiness', Service> = async (_call, reply, service) => {
  const { database, keys } = await service.readiness();
  const checks = { database: database ? 'ok' : 'failing', keys: keys ? 'ok' : 'failing' } as const;
  return database && keys ? reply(200, { status: 'ready', checks }) : reply(503, { status: 'not_ready', checks });
};
