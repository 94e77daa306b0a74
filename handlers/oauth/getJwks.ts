import type { Tokens } from '../../core/capabilities/tokens.ts';
import { jwksDocument } from '../../core/tokens/signing-key.ts';
import type { Handler } from '../../http/contract.ts';

export const getJwks: Handler<'getJwks', Tokens> = (_call, reply, tokens) =>
  reply(200, jwksDocument(tokens.signingKeys), { 'cache-control': 'public, max-age=300' });
