import { jwksDocument } from '../../core/tokens/signing-key.ts';
import type { Handler } from '../../http/contract.ts';

export const getJwks: Handler<'getJwks'> = (_call, reply, deps) =>
  reply(200, jwksDocument(deps.signingKeys), { 'cache-control': 'public, max-age=300' });
