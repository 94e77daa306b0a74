import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { createConnector } from '../support/all-types.ts';
import { selectRows } from '../support/database-file.ts';
import { NO_BACKGROUND } from '../support/no-background.ts';
import { createConnection } from '../support/providers.ts';
import {
  leave,
  ORDERED_ONLY,
  oauthConnector,
  revocationsOf,
  startWorker,
  tokenAccount,
} from '../support/revocations.ts';
import type { TestResponse, TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';

const ACCOUNTS = '/api/v1/connected_accounts';

/** The last thirty bytes of a sealed value identify it, even if its other bytes are in other pages of the file. */
const markOf = (sealed: unknown): Buffer => (sealed as Buffer).subarray(-30);

describe('deleted data', () => {
  let server: TestServer;
  let scrubs = 0;

  before(async () => {
    server = await startTestServer({
      overrides: {
        ...NO_BACKGROUND,
        scrubStorage: () => {
          scrubs += 1;
        },
      },
    });
    // Other accounts share pages of the file with the deleted rows. Otherwise whole pages would be freed.
    const connector = await createConnector(server, [{ type: 'API_KEY' }]);
    for (let index = 0; index < 20; index++)
      await createAccount(server, { connector, connectedAccount: withKey(`k${index}`) });
  });
  after(() => server.stop());

  const withKey = (api_key: string) => ({ authorization_details: { static_auth: { details: { api_key } } } });
  const onDisk = (bytes: Buffer | string): boolean =>
    ['', '-wal'].some((suffix) => {
      const file = server.parts.config.databaseFile + suffix;
      return existsSync(file) && readFileSync(file).includes(bytes);
    });
  const column = (table: string, name: string, id: string) =>
    selectRows(server.parts.config.databaseFile, `select ${name} as value from ${table} where id = ?`, id)[0]?.[
      'value'
    ];

  /** Returns the end of the data key of a row; zeros follow it in its slot. */
  function keyMark(table: string, id: string): Buffer {
    const key = column(table, '(select wrapped from data_keys where slot = data_key)', id) as Buffer;
    return markOf(key.subarray(1, 1 + key.readUInt8()));
  }

  /** Returns the sealed columns of a new account; the credentials are large enough to need separate pages. */
  async function freshAccount() {
    const connector = await createConnector(server, [{ type: 'API_KEY' }]);
    const identifier = `trace-of-${connector}@acme.test`;
    const { id } = await createAccount(server, {
      connector,
      identifier,
      connectedAccount: withKey('x'.repeat(16_000)),
    });
    const marks = [markOf(column('accounts', 'credentials_sealed', id)), keyMark('accounts', id)];
    expect(marks.map(onDisk)).to.deep.equal([true, true]);
    return { id, connector, identifier, marks };
  }

  const ENDS: [string, boolean, (account: { id: string; connector: string }) => Promise<TestResponse>][] = [
    ['deletion', true, ({ id }) => server.call('POST', `${ACCOUNTS}:delete`, { body: { id } })],
    ['disconnection', true, ({ id }) => server.call('POST', `${ACCOUNTS}:disconnect`, { body: { id } })],
    [
      'deletion of its provider',
      true,
      ({ connector }) => server.call('DELETE', `/api/v1/custom-providers/${connector}`),
    ],
    [
      'update',
      false,
      ({ id }) => server.call('PUT', ACCOUNTS, { body: { id, connected_account: withKey('another') } }),
    ],
  ];
  for (const [what, asksForScrubbing, end] of ENDS) {
    it(`of an account is removed from the files when they are scrubbed after its ${what}: ciphertext and data key`, async () => {
      const account = await freshAccount();
      scrubs = 0;
      expect((await end(account)).status).to.equal(200);
      expect(scrubs > 0, 'scrubbing is requested').to.equal(asksForScrubbing);
      await server.parts.store.scrub();
      expect(account.marks.map(onDisk)).to.deep.equal([false, false]);
    });
  }

  it('of a deleted account is removed from the search index too', async () => {
    const { id, identifier } = await freshAccount();
    expect(onDisk(identifier)).to.equal(true);
    await server.call('POST', `${ACCOUNTS}:delete`, { body: { id } });
    await server.parts.store.scrub();
    expect(onDisk(identifier)).to.equal(false);
    const rows = selectRows(
      server.parts.config.databaseFile,
      `select rowid from accounts_search where search_text match ?`,
      `"${identifier}"`,
    );
    expect(rows).to.deep.equal([]);
  });

  it('of a connection is removed from the files: a client secret that was replaced or cleared', async () => {
    for (const client_secret of ['another-secret', null]) {
      const { id } = await createConnection(server, { client_id: 'id', client_secret: 'secret-of-the-client' });
      const marks = [markOf(column('connections', 'client_secret_sealed', id)), keyMark('connections', id)];
      expect(marks.map(onDisk)).to.deep.equal([true, true]);
      await server.call('PUT', `/api/v1/connections/${id}`, { body: { client_secret } });
      await server.parts.store.scrub();
      expect(marks.map(onDisk)).to.deep.equal([false, false]);
    }
  });

  describe('of tokens to revoke', () => {
    let own: TestServer;

    before(async () => {
      own = await startTestServer({ overrides: { jobs: ORDERED_ONLY } });
    });
    after(() => own.stop());

    const sealedIn = (select: string, id: string) =>
      markOf(selectRows(own.parts.config.databaseFile, select, id)[0]?.['value']);
    const isOnDisk = (mark: Buffer) =>
      ['', '-wal'].some((suffix) => {
        const file = own.parts.config.databaseFile + suffix;
        return existsSync(file) && readFileSync(file).includes(mark);
      });
    /** Resolves when the files are next scrubbed. */
    function scrubbed(): Promise<void> {
      const { store } = own.parts;
      const { scrub } = store;
      return new Promise((resolve) => {
        store.scrub = async () => {
          store.scrub = scrub;
          const done = await scrub();
          resolve();
          return done;
        };
      });
    }

    it('is removed from the files without a request: the account’s at its deletion, the job’s when it ends', async () => {
      const { connector } = await oauthConnector(own, { revocation_uri: undefined });
      const { id } = await tokenAccount(own, connector);
      const credentials = sealedIn('select credentials_sealed as value from accounts where id = ?', id);
      expect(isOnDisk(credentials)).to.equal(true);
      const afterDeletion = scrubbed();
      await leave(own, id);
      const order = sealedIn('select payload_sealed as value from jobs where subject_id = ?', id);
      await afterDeletion;
      expect([credentials, order].map(isOnDisk)).to.deep.equal([false, true]);
      const worker = startWorker(own);
      const afterEnd = scrubbed();
      await worker.run();
      await afterEnd;
      expect((await revocationsOf(own, id))[0]?.status).to.equal('NOT_REVOCABLE');
      expect(isOnDisk(order)).to.equal(false);
      await worker.stop();
    });
  });

  describe('when the server stops', () => {
    const folder = tempDir();
    let own: TestServer;

    before(async () => {
      own = await startTestServer({ dataDir: folder.path });
    });
    after(async () => {
      await own.stop();
      folder.remove();
    });

    it('is removed from the files without a request', async () => {
      const { id } = await createAccount(own);
      const file = own.parts.config.databaseFile;
      const select = 'select credentials_sealed as value from accounts where id = ?';
      const mark = markOf(selectRows(file, select, id)[0]?.['value']);
      await own.call('POST', `${ACCOUNTS}:delete`, { body: { id } });
      await own.stop();
      expect(existsSync(`${file}-wal`)).to.equal(false);
      expect(readFileSync(file).includes(mark)).to.equal(false);
    });
  });
});
