import type { Service } from '../../core/capabilities/service.ts';
import type { Handler } from '../../http/contract.ts';

export const getReadiness: Handler<'getReadiness', Service> = async (_call, reply, service) => {
  const [ready, state] = await Promise.all([service.readiness(), service.databaseState()]);
  const checks = { database: ready.database ? 'ok' : 'failing', keys: ready.keys ? 'ok' : 'failing' } as const;
  const { engine, role, replica } = state;
  const database = { engine, role, replica: replica && { used: replica.isUsed, lag_ms: replica.lagMs } };
  const isReady = ready.database && ready.keys && !ready.ending;
  if (!isReady) return reply(503, { status: 'not_ready', checks, database });
  return reply(200, { status: 'ready', checks, database });
};
