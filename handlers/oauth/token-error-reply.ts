import type { TokenError } from '../../core/tokens/token-error.ts';
import type { Reply, Responder } from '../../http/contract.ts';

type FormOperation = 'issueToken' | 'revokeOAuthToken';

/** Returns the response for an error of an OAuth endpoint that receives forms (RFC 6749 §5.2). */
export function tokenErrorReply<O extends FormOperation>(reply: Responder<O>, error: TokenError): Reply<O> {
  const body = { error: error.error, error_description: error.description };
  const respond = reply as unknown as Responder<'issueToken'>;
  const challenge: Record<string, string> = error.challenge
    ? { 'www-authenticate': 'Basic realm="token", charset="UTF-8"' }
    : {};
  const made = error.status === 400 ? respond(400, body) : respond(401, body, challenge);
  return made as unknown as Reply<O>;
}
