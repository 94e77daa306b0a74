import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { testClock } from '../support/clock.ts';
import { walkPages } from '../support/pages.ts';
import { createProvider } from '../support/providers.ts';
import { leave, oauthConnector, type RevocationResult, revocationsOf, tokenAccount } from '../support/revocations.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import type { Upstream } from '../support/upstream.ts';
import { startUpstream } from '../support/upstream.ts';

const PATH = '/api/v1/revocations';

describe('listRevocations', () => {
  const clock = testClock();
  let acme: Upstream;
  let server: TestServer;
  const accounts: Record<string, string> = {};

  const statusesOf = async (query: string) => {
    const answer = await server.call('GET', `${PATH}${query}`);
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.body.total_size).to.equal(answer.body.revocations.length);
    return answer.body.revocations.map(({ status }: RevocationResult) => status);
  };

  before(async () => {
    acme = await startUpstream(({ body }, res) => {
      const token = new URLSearchParams(body).get('token') ?? '';
      res.writeHead(token.includes('busy') ? 503 : token.includes('refused') ? 400 : 200).end();
    });
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride('https://as.acme.example') },
      overrides: { now: clock.now },
    });
    const { connector } = await oauthConnector(server);
    const without = await oauthConnector(server, { revocation_uri: undefined });
    for (const [name, where, refresh_token] of [
      ['revoked', connector, 'rt'],
      ['refused', connector, 'refused'],
      ['impossible', without.connector, 'rt'],
      ['waiting', connector, 'busy'],
    ] as const) {
      const { id } = await tokenAccount(server, where, { refresh_token });
      accounts[name] = id;
      await leave(server, id);
      await server.parts.jobs.runDue();
      clock.advance(1000);
    }
  });
  after(async () => {
    await server.stop();
    await acme.stop();
  });

  describe('200', () => {
    it('returns the revocations of deleted accounts, the newest first', async () => {
      expect(await statusesOf('')).to.deep.equal(['PENDING', 'NOT_REVOCABLE', 'FAILED', 'REVOKED']);
    });

    it('returns the time, the attempts, the host, and the reason of a failure', async () => {
      const [revoked] = await revocationsOf(server, accounts['revoked'] ?? '');
      expect(revoked).to.include({
        connected_account_id: accounts['revoked'],
        status: 'REVOKED',
        reason: '',
        attempts: 1,
      });
      expect(revoked).to.include({ created_at: '2026-06-01T12:00:00.000Z', updated_at: '2026-06-01T12:00:00.000Z' });
      expect(revoked?.provider).to.match(/^provider-/);
      const reasons = async (name: string) => (await revocationsOf(server, accounts[name] ?? ''))[0]?.reason;
      expect(await reasons('refused')).to.equal(
        "The provider's response was not as expected (HTTP status 400). Check the addresses in its definition.",
      );
      expect(await reasons('impossible')).to.equal('The provider does not support token revocation.');
      expect(await reasons('waiting')).to.equal('The provider returned a server error.');
    });

    it('combines filters', async () => {
      for (const status of ['PENDING', 'NOT_REVOCABLE', 'FAILED', 'REVOKED']) {
        expect(await statusesOf(`?status=${status}`)).to.deep.equal([status]);
      }
      const account = `connected_account_id=${accounts['refused']}`;
      expect(await statusesOf(`?${account}`)).to.deep.equal(['FAILED']);
      expect(await statusesOf(`?${account}&status=REVOKED`)).to.deep.equal([]);
    });

    it('pages in both directions', async () => {
      const pages = await walkPages(server, `${PATH}?page_size=3`, 'revocations');
      expect(pages.flat().map(({ status }) => status)).to.deep.equal(['PENDING', 'NOT_REVOCABLE', 'FAILED', 'REVOKED']);
    });

    it('returns nothing for credentials that a user typed', async () => {
      const { identifier: connector } = await createProvider(server);
      const connectedAccount = { authorization_details: { static_auth: { details: { api_key: 'typed' } } } };
      const { id } = await createAccount(server, { connector, connectedAccount });
      await leave(server, id);
      expect(await revocationsOf(server, id)).to.deep.equal([]);
    });

    it('returns nothing of another environment (C1)', async () => {
      const other = await addSecondEnvironment(server);
      const answer = await other.call('GET', `${PATH}?connected_account_id=${accounts['revoked']}`);
      expect(answer.body).to.deep.include({ revocations: [], total_size: 0 });
    });
  });

  describe('400', () => {
    it('refuses a page token of other filters', async () => {
      const { next_page_token: token } = (await server.call('GET', `${PATH}?page_size=1`)).body;
      const query = `page_size=1&status=FAILED&page_token=${encodeURIComponent(token)}`;
      expect((await server.call('GET', `${PATH}?${query}`)).body.code).to.equal('INVALID_PAGE_TOKEN');
    });

    for (const query of ['page_size=0', 'status=LOST', 'connected_account_id=conn_1', 'provider=github']) {
      it(`names the parameter of ?${query}`, async () => {
        const answer = await server.call('GET', `${PATH}?${query}`);
        expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(answer.body.errors[0].field).to.equal(query.split('=')[0]);
      });
    }
  });
});
