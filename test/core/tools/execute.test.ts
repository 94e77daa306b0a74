import { expect } from 'chai';
import type { AuthPattern } from '../../../core/connectors/auth-pattern.ts';
import type { Credential } from '../../../core/connectors/credential.ts';
import { EgressError, type EgressErrorKind } from '../../../core/net/egress-error.ts';
import { Secret } from '../../../core/secret.ts';
import { executeTool } from '../../../core/tools/execute.ts';
import {
  json,
  NOW,
  portsOf,
  prepared,
  providerOf,
  raw,
  TOKEN,
  tokenCredential,
  toolOf,
  writingTool,
} from './samples.ts';

const lost = (sent: boolean) => new EgressError('unreachable', 'The connection was lost.', { sent });
const WRITE = { tool: writingTool(), toolInput: { name: 'n' } };

describe('Executing a tool', () => {
  it('sends the rendered request once and returns its data', async () => {
    const ports = portsOf([json(200, { id: 1 })]);
    expect(await executeTool(prepared(), ports)).to.deep.equal({
      ok: true,
      data: { id: 1 },
      nextCursor: undefined,
      truncated: undefined,
      upstreamStatus: 200,
    });
    expect(ports.sent).to.deep.equal([
      {
        method: 'GET',
        url: 'https://api.acme.example/v1/things',
        headers: { accept: 'application/json', authorization: `Bearer ${TOKEN}` },
        body: undefined,
      },
    ]);
  });

  it('refreshes a rejected credential once and sends the call once more, also a write (E10)', async () => {
    const ports = portsOf([json(401, {}), json(201, { id: 1 })], {
      refresh: async () => tokenCredential('renewed_token'),
    });
    const outcome = await executeTool(prepared(WRITE), ports);
    expect(outcome.ok).to.equal(true);
    expect(ports.sent.map((request) => request.headers['authorization'])).to.deep.equal([
      `Bearer ${TOKEN}`,
      'Bearer renewed_token',
    ]);
    expect(ports.refreshes()).to.equal(1);
  });

  it('sends two requests and one refresh to an API that always returns 401 (E10)', async () => {
    const ports = portsOf([json(401, {}), json(401, {}), json(200, {})], {
      refresh: async () => tokenCredential('renewed_token'),
    });
    const outcome = await executeTool(prepared(), ports);
    expect(outcome.ok ? 'ok' : outcome.error.kind).to.equal('upstream_auth');
    expect([ports.sent.length, ports.refreshes()]).to.deep.equal([2, 1]);
  });

  it('limits the requests of refreshes and retries together, and stops at the second rejection (E10)', async () => {
    const refresh = async () => tokenCredential('renewed_token');
    const ports = portsOf([json(401, {}), lost(true), json(500, {}), json(200, {})], { refresh });
    expect((await executeTool(prepared(), ports)).ok).to.equal(false);
    expect(ports.sent).to.have.length(3);
    const late = portsOf([json(503, {}), json(401, {}), json(401, {}), json(200, {})], { refresh });
    expect((await executeTool(prepared(), late)).ok).to.equal(false);
    expect([late.sent.length, late.refreshes()]).to.deep.equal([3, 1]);
  });

  it('returns the rejection without a newer credential', async () => {
    const ports = portsOf([json(401, {})]);
    expect(await executeTool(prepared(), ports)).to.deep.include({ ok: false, sent: true });
    expect(ports.sent).to.have.length(1);
  });

  it('treats a 200 response that reports an invalid token as a rejected credential', async () => {
    const provider = providerOf({
      api: {
        base_url: 'https://api.acme.example',
        errors: [
          {
            when: { pointer: '/ok', equals: false },
            code: '/error',
            kinds: { token_expired: 'upstream_auth' },
            default: 'upstream_bad_request',
          },
        ],
      },
    });
    const ports = portsOf([json(200, { ok: false, error: 'token_expired' }), json(200, { ok: true })], {
      refresh: async () => tokenCredential('renewed_token'),
    });
    expect((await executeTool(prepared({ provider }), ports)).ok).to.equal(true);
    expect(ports.refreshes()).to.equal(1);
  });

  it('does not refresh for a 403, or for a 401 without a credential', async () => {
    const forbidden = portsOf([json(403, {})]);
    await executeTool(prepared(), forbidden);
    const open = portsOf([json(401, {})], { credential: async () => ({ kind: 'none' }) });
    await executeTool(prepared({ pattern: { type: 'NO_AUTH' } }), open);
    expect([forbidden.refreshes(), open.refreshes()]).to.deep.equal([0, 0]);
  });

  it('never sends a write again once its first byte was sent (E7)', async () => {
    const ports = portsOf([lost(true), json(200, {})]);
    const outcome = await executeTool(prepared(WRITE), ports);
    expect(ports.sent).to.have.length(1);
    expect(outcome).to.deep.include({ ok: false, sent: true });
    expect(outcome.ok ? undefined : [outcome.error.kind, outcome.error.retryable]).to.deep.equal([
      'upstream_unreachable',
      false,
    ]);
  });

  it('retries once after a lost connection if that is safe (E7)', async () => {
    const withKey = providerOf({
      api: { base_url: 'https://api.acme.example', idempotency_header: 'Idempotency-Key' },
    });
    const safe = [prepared(), prepared({ ...WRITE, provider: withKey })];
    for (const call of safe) {
      const ports = portsOf([lost(true), json(200, {})]);
      expect((await executeTool(call, ports)).ok).to.equal(true);
      expect(ports.sent[0]).to.deep.equal(ports.sent[1]);
    }
    const neverLeft = portsOf([lost(false), json(200, {})]);
    expect((await executeTool(prepared(WRITE), neverLeft)).ok).to.equal(true);
    const thrice = portsOf([lost(true), lost(false), lost(false), json(200, {})]);
    expect(await executeTool(prepared(), thrice)).to.deep.include({ ok: false, sent: true });
    expect(thrice.sent).to.have.length(3);
  });

  it('retries after a server error or a rate limit only if that is safe (E7)', async () => {
    const withKey = providerOf({
      api: { base_url: 'https://api.acme.example', idempotency_header: 'Idempotency-Key' },
    });
    for (const status of [429, 500, 502, 503, 504]) {
      for (const call of [prepared(), prepared({ ...WRITE, provider: withKey })]) {
        const ports = portsOf([json(status, {}), json(200, {})]);
        expect((await executeTool(call, ports)).ok, String(status)).to.equal(true);
        expect(ports.sent[0]).to.deep.equal(ports.sent[1]);
      }
      const ports = portsOf([json(status, {}), json(200, {})]);
      expect((await executeTool(prepared(WRITE), ports)).ok, String(status)).to.equal(false);
      expect(ports.sent).to.have.length(1);
    }
  });

  it('does not retry permanent failures', async () => {
    const timeout = new EgressError('timeout', 'Too slow.', { sent: true });
    const answers = [
      json(400, {}),
      json(404, {}),
      json(409, {}),
      json(501, {}),
      raw(200, 'application/json', '{'),
      timeout,
    ];
    for (const answer of [...answers, new EgressError('tls', 'No.'), new EgressError('aborted', 'Over.')]) {
      const ports = portsOf([answer, json(200, {})]);
      expect((await executeTool(prepared(), ports)).ok).to.equal(false);
      expect(ports.sent).to.have.length(1);
    }
  });

  it('waits as long as the provider asks, in its units, and otherwise longer each time', async () => {
    const asked = portsOf([json(429, {}, { 'retry-after': '3' }), json(200, {})]);
    await executeTool(prepared(), asked);
    expect(asked.waits).to.deep.equal([3000]);
    const own = portsOf([json(503, {}), json(503, {}), json(200, {})]);
    expect((await executeTool(prepared(), own)).ok).to.equal(true);
    expect(own.waits).to.deep.equal([250, 500]);
    const early = portsOf([json(503, {}), json(200, {})], { random: (size) => Buffer.alloc(size) });
    await executeTool(prepared(), early);
    expect(early.waits).to.deep.equal([125]);

    const rate_limit = {
      reset_header: 'X-Reset',
      reset_unit: 'epoch_milliseconds' as const,
      remaining_header: 'X-Left',
    };
    const provider = providerOf({ api: { base_url: 'https://api.acme.example', rate_limit } });
    const units = portsOf([json(429, {}, { 'x-reset': String(NOW + 1500), 'x-left': '0' }), json(200, {})]);
    await executeTool(prepared({ provider }), units);
    expect(units.waits).to.deep.equal([1500]);
  });

  it('returns a wait that exceeds the time of an execution to the caller', async () => {
    const ports = portsOf([json(429, {}, { 'retry-after': '60' }), json(200, {})]);
    const outcome = await executeTool(prepared(), ports);
    expect(outcome.ok ? undefined : outcome.error).to.deep.include({ retryable: true, retryAfterMs: 60_000 });
    expect([ports.sent.length, ports.waits]).to.deep.equal([1, []]);

    let now = NOW;
    const timeouts: number[] = [];
    const slow = portsOf([json(503, {}), json(503, {}), json(200, {})], {
      now: () => now,
      wait: async (ms) => {
        now += ms;
      },
    });
    const { send } = slow;
    slow.send = (request, timeoutMs) => {
      timeouts.push(timeoutMs);
      now += 20_000;
      return send(request, timeoutMs);
    };
    expect((await executeTool(prepared(), slow)).ok).to.equal(false);
    expect(timeouts).to.deep.equal([30_000, 9_750]);
  });

  it('warns that a write which may have had an effect must not simply be repeated', async () => {
    const limited = await executeTool(prepared(WRITE), portsOf([json(429, {}, { 'retry-after': '3' })]));
    expect(limited.ok ? undefined : limited.error).to.deep.include({ retryable: true, retryAfterMs: 3000 });
    const failed = await executeTool(prepared(WRITE), portsOf([json(503, {})]));
    expect(failed.ok ? undefined : failed.error.retryable).to.equal(false);
  });

  it('maps each failure of core/net to its error kind', async () => {
    const kinds: [EgressErrorKind, string][] = [
      ['blocked', 'blocked_by_egress_policy'],
      ['timeout', 'upstream_timeout'],
      ['too_large', 'upstream_invalid_response'],
      ['invalid_response', 'upstream_invalid_response'],
      ['tls', 'upstream_unreachable'],
    ];
    for (const [kind, expected] of kinds) {
      const outcome = await executeTool(prepared(), portsOf([new EgressError(kind, 'No.')]));
      expect(outcome.ok ? undefined : [outcome.error.kind, outcome.sent], kind).to.deep.equal([expected, false]);
    }
  });

  it('rethrows errors that are not network failures', async () => {
    let caught: unknown;
    await executeTool(prepared(), portsOf([new TypeError('bug')])).catch((error: unknown) => {
      caught = error;
    });
    expect(caught).to.be.instanceOf(TypeError);
  });

  it('removes an echoed credential from data, error and cursor (E5)', async () => {
    const basic: AuthPattern = { type: 'BASIC' };
    const password = 'pa55-wörd/+=&';
    const credential: Credential = {
      kind: 'static',
      details: { username: new Secret('ada'), password: new Secret(password) },
    };
    const encoded = Buffer.from(`ada:${password}`).toString('base64');
    const echo = { header: `Basic ${encoded}`, raw: `x${password}y`, url: encodeURIComponent(password), [password]: 1 };
    const tool = toolOf({
      pagination: { style: 'cursor', request: { in: 'query', name: 'c' }, response: { cursor: '/raw' } },
    });
    for (const answer of [
      json(200, echo),
      json(400, { message: password, echo }),
      raw(200, 'text/plain', `${password} ${encoded}`),
      raw(403, 'text/html', encoded),
    ]) {
      const outcome = await executeTool(
        prepared({ tool, pattern: basic }),
        portsOf([answer], { credential: async () => credential }),
      );
      const text =
        JSON.stringify(outcome) + Buffer.from((outcome.ok && outcome.nextCursor) || '', 'base64url').toString();
      for (const secret of [password, encoded, encodeURIComponent(password)]) expect(text).to.not.contain(secret);
      expect(text).to.contain('[secret]');
    }
  });

  it('removes a late echo of the first credential as well (E5)', async () => {
    const ports = portsOf([json(401, {}), json(200, { first: TOKEN, second: 'renewed_token' })], {
      refresh: async () => tokenCredential('renewed_token'),
    });
    const outcome = await executeTool(prepared(), ports);
    expect(outcome.ok && outcome.data).to.deep.equal({ first: '[secret]', second: '[secret]' });
  });

  it('removes a secret completely if a response is truncated inside it (E5)', async () => {
    for (let padding = 960; padding < 1024; padding++) {
      const tool = toolOf({ response: { max_bytes: 1024 } });
      const outcome = await executeTool(
        prepared({ tool }),
        portsOf([json(200, { text: `${'x'.repeat(padding)}${TOKEN}${'y'.repeat(500)}` })]),
      );
      expect(JSON.stringify(outcome)).to.not.contain(TOKEN.slice(0, 6));
    }
  });

  it('sends nothing for an account whose credential cannot be placed', async () => {
    const colon: Credential = { kind: 'static', details: { username: new Secret('a:b'), password: new Secret('p') } };
    const cases: [AuthPattern, Credential, string][] = [
      [{ type: 'TRUSTED_IDP' }, { kind: 'none' }, 'INVALID_AUTHORIZATION_DETAILS'],
      [{ type: 'BASIC' }, colon, 'INVALID_AUTHORIZATION_DETAILS'],
      [{ type: 'OAUTH' }, { kind: 'none' }, 'INVALID_AUTHORIZATION_DETAILS'],
    ];
    for (const [pattern, credential, code] of cases) {
      const ports = portsOf([json(200, {})], { credential: async () => credential });
      let caught: unknown;
      await executeTool(prepared({ pattern }), ports).catch((error: unknown) => {
        caught = error;
      });
      expect(caught).to.have.property('code', code);
      expect(ports.sent).to.have.length(0);
    }
  });
});
