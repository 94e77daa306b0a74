import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { openSession, type Session } from '../../db/postgres/session.ts';
import { API_ORIGIN, type HeldRequest } from '../crash/counterpart.ts';
import { useGrant } from '../crash/load.ts';
import { createAccount } from '../support/accounts.ts';
import { isAvailable, TEMPLATE } from '../support/postgres/databases.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import { revocationsOf } from '../support/revocations.ts';
import { type ChaosServer, type ChaosWorld, startWorld } from './world.ts';

const ADDRESSES = {
  authorize_uri: `${API_ORIGIN}/authorize`,
  token_uri: `${API_ORIGIN}/token`,
  revocation_uri: `${API_ORIGIN}/revoke`,
};
const ACCOUNTS = '/api/v1/connected_accounts';

describe('a process that is paused while it holds a lease and a job', () => {
  if (!isAvailable()) return;
  let world: ChaosWorld;
  let database: Session;
  let paused: ChaosServer;
  let other: ChaosServer;
  let connector: string;

  before(async () => {
    world = await startWorld();
    database = await openSession(world.cluster.url(TEMPLATE));
    other = await world.start();
    const { identifier } = await createProvider(other, {
      proxy_enabled: true,
      proxy_url: API_ORIGIN,
      auth_patterns: [{ type: 'OAUTH', oauth_config: ADDRESSES }],
    });
    const client = { client_id: 'client', client_secret: 'secret-of-the-client' };
    connector = (await createConnection(other, { connector: identifier, ...client })).key_id;
    paused = await world.start();
  });
  after(async () => {
    await database.close();
    await world.end();
  });

  const first = async (text: string) => (await database.query({ text })).rows[0]?.[0];
  const grant = async (name: string) => {
    const oauth_token = { access_token: `${name}-0`, refresh_token: `${name}.0` };
    const connectedAccount = { authorization_details: { oauth_token } };
    return (await createAccount(other, { connector, identifier: name, connectedAccount })).id;
  };

  /** Deletes accounts until the process that is going to be paused holds the job that revokes a token. */
  async function holdRevocation(): Promise<{ accountId: string; request: HeldRequest }> {
    const owner = "select owner from jobs where state = 'RUNNING'";
    const own = await first('select max(number) from instances');
    for (let attempt = 0; ; attempt++) {
      const accountId = await grant(`revoked${attempt}`);
      const arrived = world.counterpart.holdNext('/revoke');
      await paused.call('POST', `${ACCOUNTS}:delete`, { body: { id: accountId } });
      const request = await arrived;
      if ((await first(owner)) === own) return { accountId, request };
      request.respond({});
    }
  }

  it('is fenced when it continues: another process has both by then, and late tokens are not stored', async () => {
    const exited = once(paused.child, 'exit');
    const before = await world.instances();
    const accountId = await grant('kept');
    const tokenRequest = world.counterpart.holdNext('/token');
    const late = useGrant(paused, accountId).catch(() => undefined);
    const refresh = await tokenRequest;
    expect(await first(`select state from refresh_leases where account_id = '${accountId}'`)).to.equal('HELD');
    const revocation = await holdRevocation();

    paused.child.kill('SIGSTOP');
    while ((await world.instances()) === before) await pause(100);
    expect((await useGrant(other, accountId)).status, 'with the tokens of its refresh').to.equal(200);
    expect(world.counterpart.rotationsOf('kept')).to.equal(1);
    const statusOfRevocation = async () => (await revocationsOf(other, revocation.accountId))[0]?.status;
    while ((await statusOfRevocation()) !== 'REVOKED') await pause(100);

    refresh.respond({ access_token: 'too-late', refresh_token: 'kept.late', token_type: 'Bearer' });
    revocation.request.respond({});
    paused.child.kill('SIGCONT');
    await exited;
    await late;
    expect(paused.errors() + paused.logs.join('\n')).to.include('other servers assume that it has ended');
    const stored = await other.call('GET', `${ACCOUNTS}/auth?id=${accountId}`);
    expect(stored.text)
      .to.match(/kept-\d/)
      .and.not.include('late');
    expect((await useGrant(other, accountId)).status).to.equal(200);
    expect(await first(`select generation from refresh_leases where account_id = '${accountId}'`)).to.be.a('number');
    expect((await revocationsOf(other, revocation.accountId)).length).to.equal(1);
    expect(await world.verifyAudit()).to.include('is complete');
  });
});
