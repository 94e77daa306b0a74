import { expect } from 'chai';
import { readinessFor } from '../../../core/discovery/readiness.ts';
import { accountsOf, reachesOf } from '../../../core/discovery/user-tools.ts';
import type { AccountStatus } from '../../../db/store.ts';
import { createOAuthAccount, setAccountStatus } from '../../support/accounts.ts';
import { createConnection } from '../../support/providers.ts';
import type { TestServer } from '../../support/server.ts';
import { startTestServer } from '../../support/server.ts';
import { firstEnvironment } from '../../support/tokens.ts';

describe('the readiness of a user for a tool', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  /** The readiness for a tool that needs the scope `chat:write`. */
  const readinessOf = async (userId: string, keyId: string) => {
    const { id } = await firstEnvironment(server);
    const { catalogue, store } = server.parts;
    const user = { userId, identifier: userId };
    const connection = await store.read.connections.byKeyId(id, keyId);
    const [reach] = connection ? await reachesOf(store.read, server.parts, id, [connection]) : [];
    const tool = catalogue.tool('slack_send_message');
    if (!reach || !tool) throw new Error('The connection or the tool is missing.');
    const accounts = (await accountsOf(store.read, id, user)).get(reach.connection.id) ?? [];
    return readinessFor(tool, reach.provider, reach.connection, accounts, user);
  };
  const oauth = (userId: string, connector: string, scopes?: string[]) =>
    createOAuthAccount(server, userId, connector, scopes);
  const setStatus = (id: string, status: AccountStatus) => setAccountStatus(server, id, status);
  const slack = (fields: Record<string, unknown> = {}) =>
    createConnection(server, { connector: 'slack', client_id: 'c', client_secret: 's', ...fields });

  it('says READY with the account that has every scope', async () => {
    const { key_id: keyId } = await slack();
    const account = await oauth('ready', keyId, ['chat:write', 'channels:read']);
    const found = await readinessOf('ready', keyId);
    expect(found).to.include({ readiness: 'READY', next: null });
    expect(found.account?.id).to.equal(account.id);
  });

  it('suggests a link if the user has no account, with every known field', async () => {
    const { key_id: keyId } = await slack();
    const found = await readinessOf('stranger', keyId);
    expect(found).to.deep.include({ readiness: 'NEEDS_CONNECTION', account: null });
    expect(found.next).to.deep.include({
      operationId: 'generateMagicLink',
      arguments: { connector: keyId, identifier: 'stranger', user_id: 'stranger' },
    });
  });

  for (const [status, readiness, operationId] of [
    ['EXPIRED', 'NEEDS_REAUTH', 'generateMagicLink'],
    ['DISCONNECTED', 'NEEDS_REAUTH', 'generateMagicLink'],
    ['PENDING_AUTH', 'NEEDS_CONNECTION', 'generateMagicLink'],
    ['PENDING_VERIFICATION', 'NEEDS_CONNECTION', 'verifyUser'],
  ] as const) {
    it(`says ${readiness} for an account that is ${status}`, async () => {
      const { key_id: keyId } = await slack();
      const { id } = await oauth(`user-${status}`, keyId);
      await setStatus(id, status);
      const found = await readinessOf(`user-${status}`, keyId);
      expect(found.readiness).to.equal(readiness);
      expect(found.next?.operationId).to.equal(operationId);
      // The message is for users and contains no names of statuses (X14).
      expect(found.next?.message).not.to.match(/[A-Z]{2,}/);
      if (operationId === 'generateMagicLink') expect(found.next?.arguments).to.deep.equal({ id });
    });
  }

  it('returns the scopes that a consent lacked, and none if the granted scopes are unknown', async () => {
    const { key_id: keyId } = await slack();
    await oauth('narrow', keyId, ['channels:read']);
    const found = await readinessOf('narrow', keyId);
    expect(found).to.deep.include({ readiness: 'NEEDS_REAUTH', missingScopes: ['chat:write'] });
    expect(found.next?.message).to.include('chat:write');
    await oauth('unknown-scopes', keyId);
    expect((await readinessOf('unknown-scopes', keyId)).readiness).to.equal('READY');
  });

  it('reports that an operator has to complete a connection without a client', async () => {
    const { key_id: keyId, id } = await createConnection(server, { connector: 'slack' });
    const found = await readinessOf('nobody', keyId);
    expect(found.next).to.deep.include({ operationId: 'updateConnection', arguments: { connection_id: id } });
  });
});
