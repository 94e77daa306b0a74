import type { Handler } from '../../http/contract.ts';

export const getHealth: Handler<'getHealth'> = (_call, reply) => reply(200, { status: 'ok' });
