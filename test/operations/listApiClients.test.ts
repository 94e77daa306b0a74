import { expect } from 'chai';
import { walkPages } from '../support/pages.ts';
import { addSecondEnvironment, OTHER_CLIENT_ID } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { CLIENT_ID, CLIENT_SECRET, startTestServer } from '../support/server.ts';

const PATH = '/api/v1/api_clients';

describe('listApiClients', () => {
  let server: TestServer;
  const made: string[] = [CLIENT_ID];

  before(async () => {
    server = await startTestServer();
    for (let count = 1; count <= 4; count++) {
      const body = { name: `Client ${count}`, scopes: ['tools:read'] };
      made.push((await server.call('POST', PATH, { body })).body.api_client.id);
    }
  });
  after(() => server.stop());

  describe('200', () => {
    it('lists every client once, also disabled ones, in both directions', async () => {
      await server.call('POST', `${PATH}/${made[1]}:disable`);
      const pages = await walkPages(server, `${PATH}?page_size=2`, 'api_clients');
      const clients = pages.flat() as { id: string; enabled: boolean }[];
      expect(clients.map((client) => client.id).toSorted()).to.deep.equal(made.toSorted());
      expect(clients.find((client) => client.id === made[1])?.enabled).to.equal(false);
    });

    it('lists the newest of them first', async () => {
      const { api_clients: clients } = (await server.call('GET', PATH)).body;
      const minted = clients.map((client: { id: string }) => client.id).filter((id: string) => id !== CLIENT_ID);
      expect(minted).to.deep.equal(made.slice(1).toReversed());
    });

    it('returns the beginning of a secret and never all of it', async () => {
      const answer = await server.call('GET', PATH);
      const client = answer.body.api_clients.find((one: { id: string }) => one.id === CLIENT_ID);
      expect(client.secrets.map((secret: { prefix: string }) => secret.prefix)).to.deep.equal([
        CLIENT_SECRET.slice(0, 8),
      ]);
      expect(answer.text).not.to.include(CLIENT_SECRET);
    });

    it('returns no client of another environment (C1)', async () => {
      const other = await addSecondEnvironment(server);
      const answer = await other.call('GET', PATH);
      expect(answer.body.api_clients.map((client: { id: string }) => client.id)).to.deep.equal([OTHER_CLIENT_ID]);
    });
  });

  describe('400', () => {
    it('rejects a forged page token', async () => {
      const answer = await server.call('GET', `${PATH}?page_token=invented`);
      expect(answer.body).to.include({ status: 400, code: 'INVALID_PAGE_TOKEN' });
    });

    for (const query of ['page_size=0', 'name=x']) {
      it(`names the parameter of ?${query}`, async () => {
        const answer = await server.call('GET', `${PATH}?${query}`);
        expect(answer.body.errors[0].field).to.equal(query.split('=')[0]);
      });
    }
  });
});
