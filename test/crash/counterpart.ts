import { json, startUpstream, type Upstream } from '../support/upstream.ts';

export const API_ORIGIN = 'https://api.crash.example';

/** The provider of a server that is killed again and again. */
export interface Counterpart {
  upstream: Upstream;
  /** The number of times that each effect happened, by nonce. */
  effects: Map<string, number>;
  /** The number of times that the tokens of a grant were rotated. */
  rotationsOf(grant: string): number;
  /** Holds the next request to a path. Resolves when it has arrived. */
  holdNext(path: string): Promise<HeldRequest>;
}

export interface HeldRequest {
  /** Sends the response. It is lost if the caller has closed the connection. */
  respond(body: object): void;
}

/**
 * Counts effects by their nonce, and rotates tokens: a refresh token can be used once, an access token until the next
 * refresh, and the first access token of an account is never accepted.
 */
export async function startCounterpart(): Promise<Counterpart> {
  const effects = new Map<string, number>();
  const rotations = new Map<string, number>();
  const holds = new Map<string, (held: HeldRequest) => void>();
  const upstream = await startUpstream((request, res) => {
    upstream.requests.length = 0;
    const hold = holds.get(request.target);
    holds.delete(request.target);
    if (hold) return hold({ respond: (body) => json(res, 200, body) });
    if (request.target === '/revoke') return json(res, 200, {});
    if (request.target === '/token') return refresh(new URLSearchParams(request.body));
    if (request.target === '/me') return use(request.headers['authorization'] ?? '');
    const { nonce } = request.body === '' ? { nonce: undefined } : JSON.parse(request.body);
    if (nonce !== undefined) effects.set(nonce, (effects.get(nonce) ?? 0) + 1);
    // The caller is killed while it waits for this response.
    if (nonce === 'held') return;
    return json(res, 200, { nonce });

    function refresh(form: URLSearchParams) {
      const [grant = '', used] = (form.get('refresh_token') ?? '').split('.');
      const rotation = rotationsOf(grant);
      if (Number(used) !== rotation) return json(res, 400, { error: 'invalid_grant' });
      rotations.set(grant, rotation + 1);
      const tokens = { access_token: `${grant}-${rotation + 1}`, refresh_token: `${grant}.${rotation + 1}` };
      return json(res, 200, { ...tokens, token_type: 'Bearer', expires_in: 1 });
    }

    function use(bearer: string) {
      const [grant = '', rotation] = bearer.replace('Bearer ', '').split('-');
      const isCurrent = rotation !== '0' && Number(rotation) === rotationsOf(grant);
      return json(res, isCurrent ? 200 : 401, {});
    }
  });
  const rotationsOf = (grant: string) => rotations.get(grant) ?? 0;
  const holdNext = (path: string) => new Promise<HeldRequest>((resolve) => holds.set(path, resolve));
  return { upstream, effects, rotationsOf, holdNext };
}
