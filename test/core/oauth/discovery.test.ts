import { expect } from 'chai';
import { createDiscovery } from '../../../core/oauth/discovery.ts';
import { readMetadata } from '../../../core/oauth/metadata.ts';
import { discoverResource } from '../../../core/oauth/protected-resource.ts';
import type { FetchFor } from '../../../core/oauth/transport.ts';
import { testClock } from '../../support/clock.ts';

const ISSUER = 'https://as.example';
const GOOD = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize`,
  token_endpoint: 'https://token.as.example/token',
  jwks_uri: `${ISSUER}/jwks`,
};

/**
 * Returns responses by address, and records the requests; each fetch is restricted to the origins it was created for.
 */
function web(pages: Record<string, unknown>) {
  const asked: string[] = [];
  const fetchFor: FetchFor = (origins) => async (url) => {
    asked.push(String(url));
    expect(origins).to.deep.equal([new URL(url).origin]);
    const page = pages[String(url)];
    if (page instanceof Error) throw page;
    if (page instanceof Response) return page.clone();
    return page === undefined ? new Response('not found', { status: 404 }) : Response.json(page);
  };
  return { asked, fetchFor };
}

const unreachable = () => Object.assign(new Error('No connection.'), { kind: 'unreachable', sent: false });

describe('Discovery (RFC 8414, OpenID Connect Discovery)', () => {
  const clock = testClock();
  const discover = (pages: Record<string, unknown>, issuer = ISSUER) => {
    const { asked, fetchFor } = web(pages);
    return createDiscovery(clock.now)
      .discover({ issuer, partition: 'env_1', fetchFor })
      .then((outcome) => ({ outcome, asked }));
  };

  it('reads the metadata of a server', async () => {
    const { outcome } = await discover({ [`${ISSUER}/.well-known/oauth-authorization-server`]: GOOD });
    expect(outcome).to.deep.equal({ ok: true, metadata: GOOD });
  });

  it('tries each possible address; the first one with metadata counts', async () => {
    const issuer = `${ISSUER}/tenant/7`;
    const last = `${issuer}/.well-known/openid-configuration`;
    const page = new Response('<html>', { headers: { 'content-type': 'text/html' } });
    const first = `${ISSUER}/.well-known/oauth-authorization-server/tenant/7`;
    const { outcome, asked } = await discover({ [first]: page, [last]: { ...GOOD, issuer } }, issuer);
    expect(outcome).to.include({ ok: true });
    expect(asked).to.deep.equal([first, `${ISSUER}/.well-known/openid-configuration/tenant/7`, last]);
  });

  it('reports that the metadata is missing', async () => {
    expect((await discover({})).outcome).to.include({ ok: false, kind: 'no_metadata' });
  });

  it('follows no redirect', async () => {
    const away = Response.redirect('https://evil.example/', 302);
    const { outcome, asked } = await discover({ [`${ISSUER}/.well-known/oauth-authorization-server`]: away });
    expect(outcome).to.include({ ok: false, kind: 'no_metadata' });
    expect(asked.every((url) => url.startsWith(ISSUER))).to.equal(true);
  });

  for (const issuer of ['http://as.example', 'https://as.example?x', 'https://u@as.example', 'as.example', '']) {
    it(`sends nothing for the issuer ${JSON.stringify(issuer)}`, async () => {
      const { outcome, asked } = await discover({}, issuer);
      expect(outcome).to.include({ ok: false, kind: 'invalid_metadata' });
      expect(asked).to.deep.equal([]);
    });
  }

  describe('rejects metadata (P7)', () => {
    const cases: [title: string, more: object][] = [
      ['of another issuer', { issuer: 'https://evil.example' }],
      ['of the issuer with a slash more', { issuer: `${ISSUER}/` }],
      ['of the issuer in capitals', { issuer: 'https://AS.example' }],
      ['without an issuer', { issuer: undefined }],
      ['with a script as authorization endpoint', { authorization_endpoint: 'javascript:alert(1)' }],
      ['with a data address', { authorization_endpoint: 'data:text/html,x' }],
      ['with a token endpoint without https', { token_endpoint: 'http://as.example/token' }],
      ['with keys without https', { jwks_uri: 'http://as.example/jwks' }],
      ['with a user name in an address', { revocation_endpoint: 'https://as.example@evil.example/r' }],
      ['with a fragment in an address', { token_endpoint: 'https://as.example/token#x' }],
      ['with a place in an address', { token_endpoint: 'https://{{domain}}.evil.example/token' }],
      ['with an address that is no text', { token_endpoint: 7 }],
      ['with a relative address', { registration_endpoint: '/register' }],
    ];
    for (const [title, more] of cases) {
      it(title, async () => {
        const page = { ...GOOD, ...more };
        const { outcome } = await discover({ [`${ISSUER}/.well-known/oauth-authorization-server`]: page });
        expect(outcome).to.include({ ok: false, kind: 'invalid_metadata' });
      });
    }

    it('that is not an object', () => {
      for (const body of [null, [], 'x', 7]) expect(readMetadata(body, ISSUER)).to.include({ ok: false });
    });
  });

  it('keeps only the members that are used', () => {
    const read = readMetadata({ ...GOOD, foo: 1, code_challenge_methods_supported: ['S256', 7] }, ISSUER);
    expect(read).to.deep.equal({ ok: true, metadata: { ...GOOD, code_challenge_methods_supported: ['S256'] } });
  });

  it('is postponed while the server fails', async () => {
    const busy = new Response('', { status: 503, headers: { 'retry-after': '9' } });
    const { outcome } = await discover({ [`${ISSUER}/.well-known/oauth-authorization-server`]: busy });
    expect(outcome).to.include({ ok: false, kind: 'unavailable', retryAfterMs: 9000 });
  });

  it('passes an internal error on, and does not cache it', async () => {
    const discovery = createDiscovery(clock.now);
    let calls = 0;
    const fetchFor = () => {
      calls++;
      throw new TypeError('x is not a function');
    };
    for (let round = 1; round <= 2; round++) {
      const asked = discovery.discover({ issuer: ISSUER, partition: 'env_1', fetchFor });
      expect(await asked.catch((error: unknown) => error)).to.be.instanceOf(TypeError);
      expect(calls).to.equal(round);
    }
  });

  describe('sends one request', () => {
    const place = `${ISSUER}/.well-known/oauth-authorization-server`;

    it('for an hour, shared by all callers and by concurrent calls', async () => {
      const { asked, fetchFor } = web({ [place]: GOOD });
      const discovery = createDiscovery(clock.now);
      const ask = (partition = 'env_1') => discovery.discover({ issuer: ISSUER, partition, fetchFor });
      await Promise.all([ask(), ask(), ask()]);
      clock.advance(59 * 60_000);
      await ask();
      expect(asked).to.have.length(1);
      clock.advance(2 * 60_000);
      await ask();
      expect(asked).to.have.length(2);
      await ask('env_2');
      expect(asked).to.have.length(3);
    });

    it('and another after a failure, or when the clock was set back', async () => {
      const pages: Record<string, unknown> = { [place]: unreachable() };
      const { asked, fetchFor } = web(pages);
      const discovery = createDiscovery(clock.now);
      const ask = () => discovery.discover({ issuer: ISSUER, partition: 'env_1', fetchFor });
      expect(await ask()).to.include({ ok: false, kind: 'unavailable' });
      pages[place] = GOOD;
      expect(await ask()).to.include({ ok: true });
      clock.advance(-60_000);
      expect(await ask()).to.include({ ok: true });
      expect(asked).to.have.length(3);
    });
  });
});

describe('The metadata of a protected resource (RFC 9728)', () => {
  const MCP = 'https://mcp.example/v1/mcp';
  const place = 'https://mcp.example/.well-known/oauth-protected-resource/v1/mcp';
  const root = 'https://mcp.example/.well-known/oauth-protected-resource';
  const page = { resource: MCP, authorization_servers: [ISSUER], scopes_supported: ['read'] };
  const ask = (pages: Record<string, unknown>, resource = MCP) =>
    discoverResource({ resource, fetchFor: web(pages).fetchFor, now: Date.now });

  it('lists the authorization servers that the resource trusts', async () => {
    const found = { ok: true, resource: MCP, issuers: [ISSUER], scopes: ['read'] };
    expect(await ask({ [place]: page })).to.deep.equal(found);
  });

  it('may be at the root, and apply to the whole host', async () => {
    const whole = { ...page, resource: 'https://mcp.example/' };
    expect(await ask({ [root]: whole })).to.include({ ok: true, resource: 'https://mcp.example/' });
  });

  it('may be missing', async () => {
    expect(await ask({})).to.include({ ok: false, kind: 'no_metadata' });
    expect(await ask({ [place]: { resource: MCP } })).to.include({ ok: false, kind: 'no_metadata' });
    expect(await ask({ [place]: unreachable() })).to.include({ ok: false, kind: 'unavailable' });
  });

  it('counts for its first 200 scopes and 100 authorization servers, so that no server makes the next steps long', async () => {
    const scopes_supported = Array.from({ length: 20_000 }, (_, index) => `s${index}`);
    const authorization_servers = Array.from({ length: 200 }, (_, index) => `https://as${index}.example`);
    const found = await ask({ [place]: { ...page, scopes_supported, authorization_servers } });
    expect(found).to.deep.include({ ok: true, scopes: scopes_supported.slice(0, 200) });
    expect(found).to.deep.include({ issuers: authorization_servers.slice(0, 100) });
  });

  describe('is rejected (L9, P7)', () => {
    const cases: [title: string, more: object][] = [
      ['when it speaks of another host', { resource: 'https://honest.example/v1/mcp' }],
      ['when it speaks of another path', { resource: 'https://mcp.example/v1/other' }],
      ['when it speaks of a path that only begins alike', { resource: 'https://mcp.example/v1/mc' }],
      ['when it speaks of nothing', { resource: undefined }],
      ['when it trusts a server without https', { authorization_servers: ['http://as.example'] }],
      ['when it trusts a script', { authorization_servers: ['javascript:alert(1)'] }],
    ];
    for (const [title, more] of cases) {
      it(title, async () =>
        expect(await ask({ [place]: { ...page, ...more } })).to.include({ ok: false, kind: 'invalid_metadata' }),
      );
    }

    it('when the resource itself is not https', async () => {
      expect(await ask({}, 'http://mcp.example/mcp')).to.include({ ok: false, kind: 'invalid_metadata' });
    });
  });
});
