import { expect } from 'chai';
import type { ProtocolFetch } from '../../../core/oauth/transport.ts';
import {
  type Authorization,
  authorizationUrl,
  type OAuth1Provider,
  requestTemporaryCredentials,
  requestTokenCredentials,
} from '../../../core/oauth1/authorization.ts';
import { readCallback } from '../../../core/oauth1/callback.ts';
import { Secret } from '../../../core/secret.ts';

const AT = 1_750_000_000_000;
const CALLBACK = new URL('https://valetkey.example/oauth/callback/conn_1?state=s');
const TEMPORARY = { token: new Secret('temporary'), secret: new Secret('temporary-secret') };
const CONFIRMED = 'oauth_token=t&oauth_token_secret=s&oauth_callback_confirmed=true';
const PROVIDER: OAuth1Provider = {
  temporaryEndpoint: new URL('https://p.example/request'),
  authorizeEndpoint: new URL('https://p.example/authorize?theme=dark'),
  tokenEndpoint: new URL('https://p.example/token'),
  rules: { signatureMethod: 'HMAC-SHA1', placement: 'header' },
  authorizeParameters: { scope: 'read,write', oauth_token: 'not this one' },
};

interface Sent {
  url: string;
  init: RequestInit | undefined;
  authorization: string;
}

function answering(...answers: (() => Response)[]): { flow: Authorization; sent: Sent[] } {
  const sent: Sent[] = [];
  const fetch: ProtocolFetch = async (url, init) => {
    const authorization = new Headers(init?.headers).get('authorization') ?? '';
    sent.push({ url: String(url), init, authorization });
    return (answers[sent.length - 1] ?? answers.at(-1))?.() as Response;
  };
  const client = { key: 'key', secret: new Secret('client-secret') };
  return { sent, flow: { provider: PROVIDER, client, fetch, now: () => AT, random: (size) => Buffer.alloc(size, 7) } };
}

function answer(status: number, body = '', headers: Record<string, string> = {}) {
  return () => new Response(body, { status, headers });
}

const dated = (ms: number) => ({ date: new Date(AT + ms).toUTCString() });

async function temporary(...answers: (() => Response)[]) {
  return requestTemporaryCredentials(answering(...answers).flow, CALLBACK);
}

async function token(...answers: (() => Response)[]) {
  return requestTokenCredentials(answering(...answers).flow, TEMPORARY, 'verifier');
}

describe('requesting temporary credentials (RFC 5849 §2.1)', () => {
  it('sends a signed POST that names the callback, and follows no redirect', async () => {
    const { flow, sent } = answering(answer(200, CONFIRMED));
    const outcome = await requestTemporaryCredentials(flow, CALLBACK);
    expect(outcome.ok && [outcome.temporary.token.reveal(), outcome.temporary.secret.reveal()]).to.deep.equal([
      't',
      's',
    ]);
    expect(sent).to.have.length(1);
    expect(sent[0]).to.deep.include({ url: 'https://p.example/request' });
    expect(sent[0]?.init).to.include({ method: 'POST', redirect: 'manual' });
    expect(sent[0]?.authorization).to.include(`oauth_callback="${encodeURIComponent(CALLBACK.href)}"`);
  });

  it('rejects credentials from a provider that does not confirm the callback', async () => {
    for (const end of [
      '',
      '&oauth_callback_confirmed=false',
      '&oauth_callback_confirmed=true&oauth_callback_confirmed=true',
    ]) {
      const outcome = await temporary(answer(200, `oauth_token=t&oauth_token_secret=s${end}`));
      expect(outcome).to.include({ ok: false, kind: 'unavailable', reason: 'invalid_response' });
    }
  });

  describe('rejects as credentials', () => {
    const cases: [string, string][] = [
      ['a page', '<h1>Sign in</h1>'],
      ['JSON', '{"oauth_token":"t"}'],
      ['nothing', ''],
      ['a token without a secret', 'oauth_token=t&oauth_callback_confirmed=true'],
      ['an empty token', 'oauth_token=&oauth_token_secret=s&oauth_callback_confirmed=true'],
      ['two tokens', 'oauth_token=t&oauth_token=u&oauth_token_secret=s&oauth_callback_confirmed=true'],
      ['a token that is a book', `oauth_token=${'t'.repeat(5000)}&oauth_token_secret=s&oauth_callback_confirmed=true`],
    ];
    for (const [title, body] of cases) {
      it(title, async () => {
        expect(await temporary(answer(200, body))).to.include({ kind: 'unavailable', reason: 'invalid_response' });
      });
    }
  });

  describe('classifies', () => {
    const cases: [string, () => Response, object][] = [
      ['401 without a word', answer(401), { kind: 'client' }],
      ['403', answer(403, '<h1>No</h1>'), { kind: 'client' }],
      ['an unknown key', answer(401, 'oauth_problem=consumer_key_unknown'), { kind: 'client' }],
      [
        'a problem in the header',
        answer(401, '', { 'www-authenticate': 'OAuth realm="x", oauth_problem="nonce_used"' }),
        { kind: 'client' },
      ],
      ['a problem with 200', answer(200, `${CONFIRMED}&oauth_problem=signature_invalid`), { kind: 'client' }],
      ['a refusal by the person', answer(401, 'oauth_problem=permission_denied'), { kind: 'refused' }],
      ['a page that is not there', answer(404), { kind: 'unavailable', reason: 'invalid_response' }],
      [
        'a redirect',
        answer(302, '', { location: 'https://evil.example' }),
        { kind: 'unavailable', reason: 'invalid_response' },
      ],
      ['too many requests', answer(429, '', { 'retry-after': '7' }), { reason: 'rate_limited', retryAfterMs: 7000 }],
      ['a failure of the server', answer(503, CONFIRMED), { kind: 'unavailable', reason: 'server_error' }],
    ];
    for (const [title, response, expected] of cases) {
      it(title, async () => expect(await temporary(response)).to.include({ ok: false, ...expected }));
    }
  });

  it('reports why the request was not sent', async () => {
    const { flow } = answering();
    const broken = (kind: string) => () =>
      Promise.reject(Object.assign(new Error('It was so.'), { kind, sent: false }));
    expect(await requestTemporaryCredentials({ ...flow, fetch: broken('timeout') }, CALLBACK)).to.include({
      reason: 'timeout',
    });
    expect(await requestTemporaryCredentials({ ...flow, fetch: broken('blocked') }, CALLBACK)).to.include({
      reason: 'blocked',
    });
    const mistake = new TypeError('x is not a function');
    const thrown = await requestTemporaryCredentials({ ...flow, fetch: () => Promise.reject(mistake) }, CALLBACK).catch(
      (error: unknown) => error,
    );
    expect(thrown).to.equal(mistake);
  });

  it('reports a faulty connection if the consumer key would be sent to an http address', async () => {
    const { flow, sent } = answering(answer(200, CONFIRMED));
    const provider: OAuth1Provider = {
      ...PROVIDER,
      temporaryEndpoint: new URL('http://p.example/request'),
      rules: { signatureMethod: 'PLAINTEXT', placement: 'header' },
    };
    expect(await requestTemporaryCredentials({ ...flow, provider }, CALLBACK)).to.include({
      ok: false,
      kind: 'client',
    });
    expect(sent).to.have.length(0);
  });
});

describe('the time of a provider', () => {
  it('is used for one retry when the provider refuses the timestamp', async () => {
    const { flow, sent } = answering(answer(401, '', dated(-3_600_000)), answer(200, CONFIRMED));
    expect((await requestTemporaryCredentials(flow, CALLBACK)).ok).to.equal(true);
    const times = sent.map(({ authorization }) => /oauth_timestamp="(\d+)"/.exec(authorization)?.[1]);
    expect(times).to.deep.equal([String(AT / 1000), String(AT / 1000 - 3600)]);
  });

  it('is used no more than once', async () => {
    const { flow, sent } = answering(answer(401, '', dated(3_600_000)));
    expect(await requestTemporaryCredentials(flow, CALLBACK)).to.include({ ok: false, kind: 'client' });
    expect(sent).to.have.length(2);
  });

  it('is ignored when it equals our time, is implausible or unreadable, or when the request was not refused for its timestamp', async () => {
    const cases = [
      answer(401, '', dated(9_000)),
      answer(401, '', dated(48 * 3_600_000)),
      answer(401, '', { date: 'yesterday' }),
      answer(401),
      answer(503, '', dated(3_600_000)),
      answer(200, CONFIRMED, dated(3_600_000)),
    ];
    for (const response of cases) {
      const { flow, sent } = answering(response);
      await requestTemporaryCredentials(flow, CALLBACK);
      expect(sent).to.have.length(1);
    }
  });
});

describe('redirecting the user to the provider (RFC 5849 §2.2)', () => {
  it('carries the temporary token, and the additional parameters of the provider', () => {
    const url = authorizationUrl(PROVIDER, TEMPORARY);
    expect(url.href).to.equal('https://p.example/authorize?theme=dark&scope=read%2Cwrite&oauth_token=temporary');
    expect(PROVIDER.authorizeEndpoint.href).to.equal('https://p.example/authorize?theme=dark');
  });
});

describe('reading the callback (RFC 5849 §2.2)', () => {
  const cases: [string, string, object][] = [
    ['takes the verifier', 'oauth_token=temporary&oauth_verifier=v&state=s', { ok: true, verifier: 'v' }],
    ['refuses another token', 'oauth_token=other&oauth_verifier=v', { ok: false, kind: 'mismatch' }],
    [
      'refuses a token that only begins alike',
      'oauth_token=temporary2&oauth_verifier=v',
      { ok: false, kind: 'mismatch' },
    ],
    ['refuses no token', 'oauth_verifier=v', { ok: false, kind: 'malformed' }],
    [
      'refuses two tokens',
      'oauth_token=temporary&oauth_token=temporary&oauth_verifier=v',
      { ok: false, kind: 'malformed' },
    ],
    ['refuses no verifier', 'oauth_token=temporary', { ok: false, kind: 'malformed' }],
    ['refuses an empty verifier', 'oauth_token=temporary&oauth_verifier=', { ok: false, kind: 'malformed' }],
    [
      'refuses two verifiers',
      'oauth_token=temporary&oauth_verifier=a&oauth_verifier=b',
      { ok: false, kind: 'malformed' },
    ],
    [
      'recognizes a refusal by its problem',
      'oauth_token=temporary&oauth_problem=user_refused',
      { ok: false, kind: 'refused' },
    ],
    ['recognizes a refusal by its token', 'denied=temporary', { ok: false, kind: 'refused' }],
    ['ignores a denial with another request token', 'denied=other', { ok: false, kind: 'mismatch' }],
    [
      'takes no verifier beside a no',
      'oauth_token=temporary&oauth_verifier=v&denied=temporary',
      { ok: false, kind: 'refused' },
    ],
  ];
  for (const [title, query, expected] of cases) {
    it(title, () => expect(readCallback(new URLSearchParams(query), TEMPORARY)).to.deep.equal(expected));
  }
});

describe('exchanging temporary credentials (RFC 5849 §2.3)', () => {
  it('sends the verifier with the temporary token', async () => {
    const { flow, sent } = answering(
      answer(200, 'oauth_token=t&oauth_token_secret=s&user_id=7&user_id=8&name=m%C3%BC'),
    );
    const outcome = await requestTokenCredentials(flow, TEMPORARY, 'v&1');
    expect(outcome).to.deep.include({ ok: true, expiresAt: null, others: { name: 'mü' } });
    expect(sent[0]?.url).to.equal('https://p.example/token');
    expect(sent[0]?.authorization).to.include('oauth_verifier="v%261"').and.include('oauth_token="temporary"');
  });

  it('accepts an empty token secret', async () => {
    const outcome = await token(answer(200, 'oauth_token=t&oauth_token_secret='));
    expect(outcome.ok && outcome.token.secret.reveal()).to.equal('');
  });

  it('reads the lifetime of the token, if it is plausible', async () => {
    const expiryOf = async (text: string) => {
      const outcome = await token(answer(200, `oauth_token=t&oauth_token_secret=s&oauth_expires_in=${text}`));
      return outcome.ok ? outcome.expiresAt : undefined;
    };
    expect(await expiryOf('3600')).to.equal(AT + 3_600_000);
    for (const text of ['0', '-1', '1.5', 'never', '999999999999', ''])
      expect(await expiryOf(text), text).to.equal(null);
  });

  it('treats a bare refusal as the end of this authorization, and reports a refused client as such', async () => {
    for (const status of [400, 401, 403])
      expect(await token(answer(status))).to.include({ ok: false, kind: 'refused' });
    expect(await token(answer(401, 'oauth_problem=verifier_invalid'))).to.include({ kind: 'refused' });
    expect(await token(answer(401, 'oauth_problem=consumer_key_refused'))).to.include({ kind: 'client' });
    expect(await token(answer(500))).to.include({ kind: 'unavailable', reason: 'server_error' });
  });

  it('includes nothing of a response in its messages except known codes', async () => {
    const echo = 'oauth_problem=verifier&oauth_token=leak&oauth_token_secret=leak&error=leak';
    for (const status of [200, 400, 401, 404, 500]) {
      expect(JSON.stringify(await token(answer(status, echo)))).not.to.match(/leak|verifier\)/);
    }
  });
});
