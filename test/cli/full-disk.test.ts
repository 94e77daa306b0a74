import { expect } from 'chai';
import { type ChildServer, liftFileLimit, startChildServer } from '../support/child-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const ACCOUNTS = '/api/v1/connected_accounts';

describe('a full disk (F3, F11)', () => {
  const folder = tempDir();
  let server: ChildServer;
  const created: string[] = [];

  before(async () => {
    // An empty database takes about 1,300 KiB, so the limit leaves 500 KiB for data.
    server = await startChildServer({ DATA_DIR: folder.path }, { fileLimitKiB: 1_800 });
  });
  after(async () => {
    expect((await server.stop()).code).to.equal(0);
    folder.remove();
  });

  const create = async (identifier: string) => {
    const authorization_details = { static_auth: { details: { token: 'ghp_0123456789' } } };
    const connected_account = { authorization_details, api_config: { filler: 'x'.repeat(12_000) } };
    const body = { connector: 'github', user_id: 'u', identifier, connected_account };
    const answer = await server.call('POST', ACCOUNTS, { body });
    if (answer.status === 201) created.push(answer.body.connected_account.id);
    else expect(answer.body).to.include({ status: 503, code: 'STORAGE_UNAVAILABLE' });
    return answer.status;
  };
  const isReady = async () => (await server.call('GET', '/readyz')).status === 200;
  const until = async (condition: () => boolean | Promise<boolean>) => {
    while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50));
  };
  const said = (text: string) => server.logs.filter((line) => line.includes(text));

  it('makes the server unready while writes fail, and is logged once instead of with each request', async () => {
    expect(await isReady(), 'the control').to.equal(true);
    for (let refused = 0, i = 0; refused < 30; i++) refused = (await create(`a${i}`)) === 503 ? refused + 1 : 0;
    expect(created.length).to.be.greaterThan(5);
    expect(await isReady()).to.equal(false);
    const { body } = await server.call('GET', '/readyz');
    expect(body).to.deep.include({ status: 'not_ready', checks: { database: 'failing', keys: 'ok' } });
    await until(() => said('the database fails').length > 0);
    expect(said('the database fails').length).to.be.within(1, 3);
    expect(said('"stack"').length, 'of more than thirty refusals').to.be.lessThan(12);
  });

  it('does not end a server while it has to delete data, and reads continue to work', async () => {
    for (const id of created.slice(0, 5)) await server.call('POST', `${ACCOUNTS}:delete`, { body: { id } });
    expect((await server.call('GET', `${ACCOUNTS}?page_size=1`)).status).to.equal(200);
    // Waits longer than the scrubbing of the files takes.
    for (let i = 0; i < 12; i++) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(server.child.exitCode).to.equal(null);
    }
  });

  it('recovers when there is space again, without a restart and without a write request', async () => {
    await liftFileLimit(server);
    await until(isReady);
    await until(() => said('the database works again').length > 0);
    expect(await create('after')).to.equal(201);
    for (const id of created.slice(5)) {
      const answer = await server.call('GET', `${ACCOUNTS}/details?id=${id}`);
      expect(answer.status, id).to.equal(200);
    }
  });
});
