import { expect } from 'chai';
import { ADA } from '../support/mcp-login.ts';
import { type PortalWorld, RETURN_URL, startPortalWorld } from '../support/portal.ts';

describe('createPortalSession', () => {
  let world: PortalWorld;

  before(async () => {
    world = await startPortalWorld();
  });
  after(() => world.stop());

  describe('201', () => {
    it('returns a one-time URL that works for ten minutes, and records the user', async () => {
      const { status, body, headers } = await world.session({ return_url: RETURN_URL, language: 'de-AT' });
      expect(status).to.equal(201);
      expect(body.url).to.match(new RegExp(`^${world.server.origin}/portal/open/[A-Za-z0-9_-]{43}$`));
      expect(Date.parse(body.expires_at)).to.equal(world.clock.now() + 600_000);
      expect(headers['cache-control']).to.equal('no-store');
      const { id } = await world.server.parts.environmentOf('127.0.0.1');
      const { rows } = await world.server.parts.store.read.audit.list(id, { size: 1 });
      expect(rows[0]).to.include({ action: 'portal_session.created', subjectId: body.id });
      expect(rows[0]?.details).to.deep.equal({ user: ADA });
      expect(JSON.stringify(rows[0])).not.to.include(body.url.split('/').at(-1));
    });

    it('is the same for a repeated request with one idempotency key', async () => {
      const send = () =>
        world.server.call('POST', '/api/v1/portal_sessions', { body: ADA, headers: { 'idempotency-key': 'portal-1' } });
      const first = await send();
      expect((await send()).body).to.deep.equal(first.body);
    });

    it('requires no return address', async () => {
      expect((await world.session({ user_verify_url: undefined })).status).to.equal(201);
    });
  });

  describe('400', () => {
    for (const [what, body, field] of [
      ['a user without any owner', { organization_id: undefined, user_id: undefined }, 'user_id'],
      ['a user without a name', { identifier: undefined }, 'identifier'],
      ['a verify URL that is not listed', { user_verify_url: 'https://elsewhere.example/' }, 'user_verify_url'],
      ['a return URL of another origin', { return_url: 'https://elsewhere.example/settings' }, 'return_url'],
      [
        'a return URL whose host begins like a listed one',
        { return_url: 'https://app.example.evil.test/' },
        'return_url',
      ],
      ['a return URL that runs a script', { return_url: 'javascript:alert(1)' }, 'return_url'],
      ['a relative return URL', { return_url: '//elsewhere.example/' }, 'return_url'],
      ['a return URL with a password', { return_url: 'https://app.example@elsewhere.example/' }, 'return_url'],
      ['a language that is not a tag', { language: '"><script>' }, 'language'],
    ] as const) {
      it(`rejects ${what}`, async () => {
        const { status, body: problem } = await world.session(body);
        expect([status, problem.code]).to.deep.equal([400, 'VALIDATION_FAILED']);
        expect(problem.errors[0].field).to.equal(field);
      });
    }
  });
});
