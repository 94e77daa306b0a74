import { createHmac, randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { json, type ReceivedRequest, startUpstream, type Upstream } from './upstream.ts';

/** The address of the board. Overrides direct it to this machine. */
export const BOARD = 'https://board.example';
export const KEY = 'key-of-the-application';
export const SECRET = 'secret & more of the application';

interface Temporary {
  secret: string;
  callback: string;
  verifier?: string;
}

/** A provider of OAuth 1.0a that verifies everything it receives, and of tokens in fragments. */
export interface Board extends Upstream {
  override: string;
  /** Verifies a request that a test has built. @returns whether it is accepted */
  isTaken(request: Pick<ReceivedRequest, 'method' | 'target' | 'headers' | 'body'>): boolean;
  /** Ends all tokens. */
  endTokens(): void;
  /** Every accepted request, in order. */
  taken: ReceivedRequest[];
}

/** @param now the clock of the board, milliseconds UTC @param callbacks the prefix of registered return addresses */
export async function startBoard(now: () => number, callbacks: string): Promise<Board> {
  const temporary = new Map<string, Temporary>();
  const tokens = new Map<string, string>();
  const plain = new Set<string>();
  const nonces = new Set<string>();
  const taken: ReceivedRequest[] = [];

  /** @returns the parameters of the protocol; undefined for an invalid request */
  function verify(request: Pick<ReceivedRequest, 'method' | 'target' | 'headers' | 'body'>) {
    const [path = '', query = ''] = request.target.split('?');
    const isForm = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded');
    const quoted = [...(request.headers['authorization'] ?? '').matchAll(/(\w+)="([^"]*)"/g)];
    const all: [string, string][] = [
      ...new URLSearchParams(query),
      ...(isForm ? new URLSearchParams(request.body) : []),
      ...quoted.map(([, name, value]): [string, string] => [String(name), decodeURIComponent(String(value))]),
    ];
    const own = Object.fromEntries(all.filter(([name]) => name.startsWith('oauth_')));
    const secretOf = (token: string) => temporary.get(token)?.secret ?? tokens.get(token);
    const tokenSecret = own['oauth_token'] === undefined ? '' : secretOf(own['oauth_token']);
    if (own['oauth_consumer_key'] !== KEY || tokenSecret === undefined) return undefined;
    const encode = (text: string) =>
      encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
    const signed = all
      .filter(([name]) => name !== 'oauth_signature' && name !== 'realm')
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .sort()
      .join('&');
    const base = [request.method, `${BOARD}${path}`, signed].map(encode).join('&');
    const key = `${encode(SECRET)}&${encode(tokenSecret)}`;
    const expected = createHmac('sha1', key).update(base).digest('base64');
    const stamp = Number(own['oauth_timestamp']) * 1000;
    const once = `${own['oauth_nonce']} ${own['oauth_timestamp']}`;
    if (own['oauth_signature'] !== expected || !(Math.abs(now() - stamp) < 300_000) || nonces.has(once))
      return undefined;
    nonces.add(once);
    return own;
  }

  function credentials(res: ServerResponse, values: Record<string, string>): void {
    res
      .writeHead(200, { 'content-type': 'application/x-www-form-urlencoded' })
      .end(new URLSearchParams(values).toString());
  }

  function mint(): { token: string; secret: string } {
    return { token: randomBytes(12).toString('hex'), secret: randomBytes(12).toString('hex') };
  }

  /** The user consents, unless the address contains another decision. */
  function authorize(query: URLSearchParams, res: ServerResponse) {
    const token = query.get('oauth_token') ?? '';
    const asked = temporary.get(token);
    if (!asked) return json(res, 400, { error: 'unknown token' });
    const back = new URL(asked.callback);
    if (query.get('says') === 'no') back.searchParams.set('denied', token);
    else {
      asked.verifier = randomBytes(8).toString('hex');
      back.searchParams.set('oauth_token', token);
      back.searchParams.set('oauth_verifier', asked.verifier);
    }
    res.writeHead(302, { location: back.href }).end();
  }

  function authorizeByFragment(query: URLSearchParams, res: ServerResponse) {
    const back = query.get('return_url') ?? '';
    if (query.get('key') !== KEY || !back.startsWith(callbacks))
      return json(res, 400, { error: 'unknown application' });
    if (query.get('says') === 'no') return res.writeHead(302, { location: `${back}#error=access_denied` }).end();
    const { token } = mint();
    plain.add(token);
    return res.writeHead(302, { location: `${back}#token=${token}` }).end();
  }

  function api(request: ReceivedRequest, res: ServerResponse) {
    const carried = /^OAuth oauth_consumer_key="([^"]+)", oauth_token="([^"]+)"$/.exec(
      request.headers['authorization'] ?? '',
    );
    const isPlain = carried?.[1] === KEY && plain.has(carried[2] ?? '');
    const own = isPlain ? {} : verify(request);
    if (!isPlain && !tokens.has(own?.['oauth_token'] ?? '')) return json(res, 401, { message: 'not you' });
    taken.push(request);
    json(res, 200, { id: 'member-1', username: 'maria', body: request.body });
  }

  const upstream = await startUpstream((request, res) => {
    const url = new URL(request.target, BOARD);
    switch (url.pathname) {
      case '/request_token': {
        const own = verify(request);
        const callback = own?.['oauth_callback'] ?? '';
        if (!own || !callback.startsWith(callbacks)) return json(res, 401, {});
        const { token, secret } = mint();
        temporary.set(token, { secret, callback });
        return credentials(res, { oauth_token: token, oauth_token_secret: secret, oauth_callback_confirmed: 'true' });
      }
      case '/authorize':
        return authorize(url.searchParams, res);
      case '/authorize-by-fragment':
        return authorizeByFragment(url.searchParams, res);
      case '/access_token': {
        const own = verify(request);
        const asked = temporary.get(own?.['oauth_token'] ?? '');
        if (!own || !asked?.verifier || asked.verifier !== own['oauth_verifier']) return json(res, 401, {});
        temporary.delete(own['oauth_token'] ?? '');
        const { token, secret } = mint();
        tokens.set(token, secret);
        return credentials(res, { oauth_token: token, oauth_token_secret: secret, screen_name: 'maria' });
      }
      default:
        return api(request, res);
    }
  });
  return {
    ...upstream,
    override: upstream.endpointOverride(BOARD),
    isTaken: (request) => verify(request) !== undefined,
    endTokens: () => {
      tokens.clear();
      plain.clear();
    },
    taken,
  };
}
