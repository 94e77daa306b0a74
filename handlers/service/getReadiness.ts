import type { Handler } from '../../http/contract.ts';

export const getReadiness: Handler<'getReadiness'> = (_call, reply, deps) => {
  const { database, keys } = deps.readiness();
  const checks = { database: database ? 'ok' : 'failing', keys: keys ? 'ok' : 'failing' } as const;
  return database && keys ? reply(200, { status: 'ready', checks }) : reply(503, { status: 'not_ready', checks });
};
