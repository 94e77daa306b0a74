import { expect } from 'chai';
import { wrap } from '../../wiring/overrides.ts';
import { createAccount } from '../support/accounts.ts';
import { NO_BACKGROUND } from '../support/no-background.ts';
import { createProvider } from '../support/providers.ts';
import { rehearsed } from '../support/rehearsed-store.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/**
 * Here each unit of work runs twice and its first run is rolled back, so an effect inside of a unit would happen twice.
 */
describe('the effects of a unit of work', () => {
  let server: TestServer;
  let scrubs = 0;

  before(async () => {
    server = await startTestServer({
      overrides: { ...NO_BACKGROUND, store: wrap(rehearsed), scrubStorage: () => void scrubs++ },
    });
  });
  after(() => server.stop());

  async function scrubsOf(method: string, path: string, body?: unknown): Promise<number> {
    const before = scrubs;
    const answer = await server.call(method, path, { body });
    expect(answer.status, answer.text).to.equal(200);
    return scrubs - before;
  }

  async function account(): Promise<string> {
    const { identifier } = await createProvider(server, {});
    const details = { static_auth: { details: { api_key: 'a-key' } } };
    const { id } = await createAccount(server, {
      connector: identifier,
      connectedAccount: { authorization_details: details },
    });
    return id;
  }

  it('happen once when a custom provider is updated', async () => {
    const { identifier } = await createProvider(server, {});
    expect(await scrubsOf('PUT', `/api/v1/custom-providers/${identifier}`, { display_name: 'Other' })).to.equal(1);
  });

  it('happen once when a custom provider is deleted', async () => {
    const { identifier } = await createProvider(server, {});
    expect(await scrubsOf('DELETE', `/api/v1/custom-providers/${identifier}`)).to.equal(1);
  });

  it('happen once when an account is deleted', async () => {
    expect(await scrubsOf('POST', '/api/v1/connected_accounts:delete', { id: await account() })).to.equal(1);
  });

  it('happen once when an account is disconnected', async () => {
    expect(await scrubsOf('POST', '/api/v1/connected_accounts:disconnect', { id: await account() })).to.equal(1);
  });
});
