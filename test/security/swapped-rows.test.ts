import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Details } from '../../core/accounts/authorization-details.ts';
import { sealCredentials } from '../../core/accounts/credentials.ts';
import { openClientSecret } from '../../core/connections/client-secret.ts';
import type { Secret } from '../../core/secret.ts';
import { VaultError } from '../../core/vault/errors.ts';
import type { AccountRow, ConnectionRow } from '../../db/store.ts';
import { environmentId } from '../../db/store.ts';
import { createAccount } from '../support/accounts.ts';
import { createConnector, SAMPLES } from '../support/all-types.ts';
import { selectRows, tamper } from '../support/database-file.ts';
import { createConnection } from '../support/providers.ts';
import type { SecondEnvironment } from '../support/second-environment.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { copyDatabaseOfDirectory, databaseOfDirectory } from '../support/test-engine.ts';
import { accessToken, firstEnvironment } from '../support/tokens.ts';
import type { Upstream } from '../support/upstream.ts';
import { startUpstream } from '../support/upstream.ts';

const ACCOUNTS = '/api/v1/connected_accounts';
const FIRST_KEY = 'kek_first_key';
const OTHER_KEY = 'kek_other_key';
const KEYS = [FIRST_KEY, OTHER_KEY]
  .map((id, index) => `${id}:${Buffer.alloc(32, index + 1).toString('base64')}`)
  .join('\n');
const SEALED = ['data_key', 'kek_id', 'credentials_sealed', 'temporary_sealed'];

/** The stored form of the data key of an account, which begins with its length. */
const WRAPPED = '(select wrapped from data_keys where slot = data_key)';
const SET_WRAPPED = 'update data_keys set wrapped = ? where slot = (select data_key from accounts where id = ?)';

/** The content of the stored copy, which each test alters differently. */
interface Stored {
  one: string;
  two: string;
  /** The account that also has temporary credentials. */
  dwd: string;
  foreign: string;
  connections: [string, string];
  environments: [string, string];
}

describe('rows that were altered in the database file', () => {
  const template = tempDir();
  const folders = [template];
  let upstream: Upstream;
  let stored: Stored;
  let older: Record<string, unknown>;
  let server: TestServer | undefined;

  const options = (dataDir: string) => ({
    dataDir,
    env: { VALETKEY_KEYS: KEYS, VALETKEY_EGRESS_ALLOW: `127.0.0.1:${upstream.port}` },
  });

  /**
   * Creates two accounts of an HTTP API, one with temporary credentials, one in another environment, and two
   * connections with secrets.
   */
  before(async () => {
    upstream = await startUpstream();
    const first = await startTestServer(options(template.path));
    server = first;
    await createConnection(first, { connector: 'http', key_id: 'api', type: 'API_KEY' });
    const create = async (identifier: string, api_key: string) => {
      const api_config = { base_url: `http://127.0.0.1:${upstream.port}` };
      const connectedAccount = { api_config, authorization_details: { static_auth: { details: { api_key } } } };
      return (await createAccount(first, { connector: 'api', identifier, connectedAccount })).id;
    };
    const [one, two] = [await create('one', 'secret-one-before'), await create('two', 'secret-two')];
    const select = `select ${SEALED.join(', ')}, ${WRAPPED} as wrapped from accounts where id = ?`;
    const { wrapped, ...before } = selectRows(first.parts.config.databaseFile, select, one)[0] ?? {};
    await first.call('PUT', ACCOUNTS, { body: updateOf(one, 'secret-one') });
    const dwd = await createTemporary(first);
    const other = await addSecondEnvironment(first);
    const secretOf = (key_id: string) => ({ key_id, client_id: key_id, client_secret: `secret-of-${key_id}` });
    const connections = [await createConnection(first, secretOf('a')), await createConnection(first, secretOf('b'))];
    stored = {
      one,
      two,
      dwd,
      foreign: await createForeign(other),
      connections: [connections[0].id, connections[1].id],
      environments: [(await firstEnvironment(first)).id, other.environment.id],
    };
    await first.stop();
    server = undefined;
    const file = join(template.path, 'valetkey.db');
    // An attacker who writes to the file runs no triggers, and can restore an old data key.
    for (const table of ['accounts', 'connections']) tamper(file, `drop trigger ${table}_data_key_replaced`);
    tamper(file, 'insert into data_keys (slot, used, wrapped) select max(slot) + 1, 1, ? from data_keys', wrapped);
    const [slot] = selectRows(file, 'select max(slot) as data_key from data_keys');
    older = { ...before, ...slot };
  });
  afterEach(async () => {
    await server?.stop();
    server = undefined;
  });
  after(async () => {
    await server?.stop();
    for (const folder of folders) {
      databaseOfDirectory(folder.path).remove();
      folder.remove();
    }
    await upstream.stop();
  });

  const updateOf = (id: string, api_key: string) => ({
    id,
    connected_account: { authorization_details: { static_auth: { details: { api_key } } } },
  });

  async function createTemporary(to: TestServer): Promise<string> {
    const connector = await createConnector(to, [SAMPLES.WORKSPACE_DWD.pattern]);
    const given = { workspace_dwd: { subject: 'ada@acme.test' } };
    const { id } = await createAccount(to, { connector, connectedAccount: { authorization_details: given } });
    const { store, vault } = to.parts;
    const { id: environment } = await firstEnvironment(to);
    const row = (await store.read.accounts.get(environment, id)) as AccountRow;
    const temporary: Details = { workspace_dwd: { access_token: 'secret-of-the-subject' } };
    const sealed = sealCredentials(vault, row, given, temporary);
    await store.write((tx) =>
      tx.accounts.update(environment, id, row.version, { ...sealed, updatedAt: row.updatedAt }),
    );
    return id;
  }

  async function createForeign(other: SecondEnvironment): Promise<string> {
    const body = {
      connector: 'http',
      identifier: 'foreign',
      user_id: 'u',
      connected_account: {
        api_config: { base_url: `http://127.0.0.1:${upstream.port}` },
        authorization_details: { static_auth: { details: { api_key: 'secret-foreign' } } },
      },
    };
    return (await other.call('POST', ACCOUNTS, { body })).body.connected_account.id;
  }

  /** Copies the files of the stopped server. @returns the copy, and a function that alters it */
  function copyOfFiles() {
    const folder = tempDir();
    folders.push(folder);
    cpSync(template.path, folder.path, { recursive: true });
    copyDatabaseOfDirectory(template.path, folder.path);
    const file = join(folder.path, 'valetkey.db');
    return {
      path: folder.path,
      alter: (statement: string, ...values: unknown[]) => tamper(file, statement, ...values),
    };
  }

  /** Alters a copy of the files and starts a server on it. */
  async function startAltered(...alterations: [statement: string, ...values: unknown[]][]): Promise<TestServer> {
    const { path, alter } = copyOfFiles();
    for (const [statement, ...values] of alterations)
      expect(alter(statement, ...values), statement).to.be.greaterThan(0);
    server = await startTestServer(options(path));
    return server;
  }

  const auth = (to: TestServer, id: string) => to.call('GET', `${ACCOUNTS}/auth?id=${id}`);
  const execute = (to: TestServer, id: string) =>
    to.call('POST', '/api/v1/execute_tool', {
      body: { connected_account_id: id, tool_name: 'http_get', tool_input: { path: '/me' } },
    });

  /**
   * Operations that need the credentials must fail with a fixed text, all others must still work, and nothing may be
   * sent.
   */
  async function expectClosed(to: TestServer, id: string): Promise<void> {
    upstream.requests.length = 0;
    for (const answer of [
      await auth(to, id),
      await to.call('PUT', ACCOUNTS, { body: { id, connected_account: {} } }),
    ]) {
      expect(answer.status).to.equal(500);
      expect(answer.body).to.include({
        code: 'INTERNAL_ERROR',
        detail: 'The request failed because of an internal error of the server.',
      });
      expect(answer.text).not.to.match(/secret-|seal|vault|kek_/i);
    }
    expect((await execute(to, id)).status).to.be.oneOf([400, 409, 500]);
    expect(upstream.requests).to.deep.equal([]);
    expect((await to.call('GET', `${ACCOUNTS}/details?id=${id}`)).status).to.equal(200);
    expect((await to.call('GET', ACCOUNTS)).body.connected_accounts.some((a: { id: string }) => a.id === id)).to.equal(
      true,
    );
    expect(to.logs.join('')).to.include('"type":"VaultError"').and.not.include('secret-');
  }

  async function expectOpen(to: TestServer, id: string, secret: string): Promise<void> {
    const answer = await auth(to, id);
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.text).to.include(secret);
  }

  /** Exchanges columns of two accounts. */
  function swap(a: string, b: string, columns: string[]): [string, ...unknown[]][] {
    const select = `select ${columns.join(', ')} from accounts where id = ?`;
    const assignment = columns.map((name) => `${name} = @${name}`).join(', ');
    const valuesOf = (id: string) => selectRows(join(template.path, 'valetkey.db'), select, id)[0];
    return [set(a, assignment, valuesOf(b)), set(b, assignment, valuesOf(a))];
  }

  const set = (id: string, assignment: string, values: Record<string, unknown> = {}): [string, ...unknown[]] => [
    `update accounts set ${assignment} where id = @id`,
    { id, ...values },
  ];

  it('can be decrypted in an unaltered copy (control)', async () => {
    const to = await startAltered(set(stored.two, 'updated_at = updated_at'));
    await expectOpen(to, stored.one, '"secret-one"');
    await expectOpen(to, stored.two, '"secret-two"');
    await expectOpen(to, stored.dwd, '"secret-of-the-subject"');
    expect((await execute(to, stored.one)).status).to.equal(200);
    expect(upstream.requests.at(-1)?.headers['x-api-key']).to.equal('secret-one');
  });

  describe('between accounts', () => {
    for (const columns of [
      SEALED,
      ['credentials_sealed'],
      ['data_key'],
      ['data_key', 'credentials_sealed', 'credential_generation'],
    ]) {
      it(`cannot be decrypted: ${columns.join(', ')} exchanged`, async () => {
        const to = await startAltered(...swap(stored.one, stored.two, columns));
        await expectClosed(to, stored.one);
        await expectClosed(to, stored.two);
        await expectOpen(to, stored.dwd, 'secret-of-the-subject');
      });
    }

    it('cannot be decrypted in the copied place, but can in the original one', async () => {
      const copied = SEALED.concat('credential_generation', 'origins', 'binding', 'api_config', 'public_details');
      const assignment = copied.map((name) => `${name} = (select ${name} from accounts where id = @from)`).join(', ');
      const to = await startAltered(set(stored.one, assignment, { from: stored.two }));
      await expectClosed(to, stored.one);
      await expectOpen(to, stored.two, '"secret-two"');
    });

    it('do not affect other accounts, which are read and written meanwhile, and the account can be given new credentials', async () => {
      const to = await startAltered(...swap(stored.one, stored.two, SEALED));
      const [bad, ...good] = await Promise.all([
        auth(to, stored.one),
        to.call('PUT', ACCOUNTS, { body: { id: stored.dwd, connected_account: { api_config: { a: 1 } } } }),
        auth(to, stored.dwd),
      ]);
      expect([bad.status, ...good.map(({ status }) => status)]).to.deep.equal([500, 200, 200]);
      const mended = await to.call('PUT', ACCOUNTS, { body: updateOf(stored.one, 'secret-new') });
      expect(mended.body.connected_account.status).to.equal('ACTIVE');
      await expectOpen(to, stored.one, 'secret-new');
      expect((await to.call('POST', `${ACCOUNTS}:delete`, { body: { id: stored.two } })).status).to.equal(200);
    });
  });

  describe('between fields', () => {
    it('cannot be decrypted: permanent and temporary credentials exchanged', async () => {
      const assignment = 'credentials_sealed = temporary_sealed, temporary_sealed = credentials_sealed';
      await expectClosed(await startAltered(set(stored.dwd, assignment)), stored.dwd);
    });

    it('cannot be decrypted: the permanent credentials in the place of the temporary ones', async () => {
      await expectClosed(await startAltered(set(stored.dwd, 'temporary_sealed = credentials_sealed')), stored.dwd);
      await server?.stop();
      await expectClosed(await startAltered(set(stored.one, 'temporary_sealed = credentials_sealed')), stored.one);
    });

    it('cannot be decrypted: a data key in the place of its ciphertext', async () => {
      const key = 'substr(wrapped, 2, 2 + length(kek_id) + 80)';
      const assignment = `credentials_sealed = (select ${key} from data_keys where slot = data_key)`;
      await expectClosed(await startAltered(set(stored.one, assignment)), stored.one);
    });

    it('cannot be decrypted: the client secret of a connection in the place of credentials', async () => {
      const assignment = 'credentials_sealed = (select client_secret_sealed from connections where id = @connection)';
      const to = await startAltered(set(stored.one, assignment, { connection: stored.connections[0] }));
      await expectClosed(to, stored.one);
    });
  });

  describe('between environments', () => {
    it('cannot be decrypted: the columns of an account of another environment', async () => {
      const assignment = SEALED.concat('credential_generation', 'origins', 'binding')
        .map((name) => `${name} = (select ${name} from accounts where id = @from)`)
        .join(', ');
      await expectClosed(await startAltered(set(stored.one, assignment, { from: stored.foreign })), stored.one);
    });

    it('cannot be decrypted: a whole account moved to another environment', async () => {
      const [, there] = stored.environments;
      const { path, alter } = copyOfFiles();
      alter('drop trigger accounts_stay');
      const connection = '(select connection_id from accounts where id = @foreign)';
      const place = '(select max(seq) + 1 from accounts where environment_id = @there)';
      const moved = alter(
        `update accounts set environment_id = @there, connection_id = ${connection}, seq = ${place} where id = @id`,
        { there, foreign: stored.foreign, id: stored.one },
      );
      expect(moved).to.equal(1);
      const moving = await startTestServer(options(path));
      server = moving;
      const baseUrl = 'https://other.example.test';
      const facts = { issuer: baseUrl, audience: baseUrl, clientId: 'other-client', environmentId: there };
      const request = { token: await accessToken(moving, facts), headers: { host: 'other.example.test' } };
      const read = (id: string) => moving.call('GET', `${ACCOUNTS}/auth?id=${id}`, request);
      expect((await read(stored.foreign)).text).to.include('secret-foreign');
      expect((await read(stored.one)).status).to.equal(500);
      expect((await auth(moving, stored.one)).status).to.equal(404);
      await expectOpen(moving, stored.two, '"secret-two"');
    });
  });

  describe('between generations', () => {
    it('can be decrypted from before an update with their own generation (control)', async () => {
      const assignment = SEALED.map((name) => `${name} = @${name}`).join(', ');
      const to = await startAltered(
        set(stored.one, `${assignment}, credential_generation = credential_generation - 1`, older),
      );
      await expectOpen(to, stored.one, '"secret-one-before"');
    });

    for (const change of ['+ 1', '- 1']) {
      it(`cannot be decrypted: the generation ${change}`, async () => {
        const to = await startAltered(set(stored.one, `credential_generation = credential_generation ${change}`));
        await expectClosed(to, stored.one);
        await expectOpen(to, stored.two, '"secret-two"');
      });
    }

    it('cannot be decrypted: data from before an update, under the current generation', async () => {
      const assignment = SEALED.map((name) => `${name} = @${name}`).join(', ');
      await expectClosed(await startAltered(set(stored.one, assignment, older)), stored.one);
    });
  });

  describe('with other origins (P2)', () => {
    let evil: Upstream;

    before(async () => {
      evil = await startUpstream();
    });
    after(() => evil.stop());

    it('cannot be decrypted: an origin added, removed or replaced', async () => {
      for (const origins of [['https://evil.test'], []]) {
        const to = await startAltered(set(stored.one, 'origins = @origins', { origins: JSON.stringify(origins) }));
        await expectClosed(to, stored.one);
        await to.stop();
        server = undefined;
      }
      const added = `json_insert(origins, '$[#]', 'https://evil.test')`;
      await expectClosed(await startAltered(set(stored.one, `origins = ${added}`)), stored.one);
    });

    for (const [what, path, value] of [
      ['its base', 'base', '"https://evil.test"'],
      ['no base', 'base', 'null'],
      ['how requests carry it', 'use', '"other"'],
      ['which of its fields are secret', 'fields.api_key', '"public"'],
      ['fields that it does not hold', 'fields.other', '"secret"'],
    ]) {
      it(`H1, M1, M9: cannot be decrypted when the binding differs: ${what}`, async () => {
        const assignment = `binding = json_set(binding, '$.${path}', json('${value}'))`;
        await expectClosed(await startAltered(set(stored.one, assignment)), stored.one);
      });
    }

    it('send nothing to an address that was changed in the database', async () => {
      const { path, alter } = copyOfFiles();
      const assignment = `api_config = json_set(api_config, '$.base_url', @address)`;
      expect(alter(...set(stored.one, assignment, { address: `http://127.0.0.1:${evil.port}` }))).to.equal(1);
      const allow = `127.0.0.1:${upstream.port},127.0.0.1:${evil.port}`;
      server = await startTestServer({ dataDir: path, env: { VALETKEY_KEYS: KEYS, VALETKEY_EGRESS_ALLOW: allow } });
      const answer = await execute(server, stored.one);
      expect(answer.body.tool_error.kind).to.equal('blocked_by_egress_policy');
      expect(evil.connections).to.equal(0);
    });
  });

  describe('under another key', () => {
    /** Replaces the key id in a blob. */
    function renamed(blob: Buffer, id: string): Buffer {
      const at = blob.indexOf(FIRST_KEY);
      expect(at).to.be.greaterThan(0);
      return Buffer.concat([blob.subarray(0, at), Buffer.from(id), blob.subarray(at + FIRST_KEY.length)]);
    }

    for (const [what, id] of [
      ['another key of the ring', OTHER_KEY],
      ['a key that nobody has', 'kek_lost__key'],
    ] as const) {
      it(`cannot be decrypted: wrapped under ${what}, as the ciphertext says`, async () => {
        const { path, alter } = copyOfFiles();
        const [row] = selectRows(
          join(path, 'valetkey.db'),
          `select ${WRAPPED} as wrapped from accounts where id = ?`,
          stored.one,
        );
        const blob = renamed(row?.['wrapped'] as Buffer, id);
        expect(alter(SET_WRAPPED, blob, stored.one)).to.equal(1);
        expect(alter(...set(stored.one, 'kek_id = @id2', { id2: id }))).to.equal(1);
        server = await startTestServer(options(path));
        await expectClosed(server, stored.one);
        await expectOpen(server, stored.two, '"secret-two"');
      });
    }
  });

  describe('with a single changed bit', () => {
    const statements = {
      'the data key': [`select ${WRAPPED} as value from accounts where id = ?`, SET_WRAPPED],
      'the credentials': [
        'select credentials_sealed as value from accounts where id = ?',
        'update accounts set credentials_sealed = ? where id = ?',
      ],
    } as const;
    for (const [what, [select, update]] of Object.entries(statements)) {
      it(`cannot be decrypted: any byte of ${what}`, async () => {
        const to = await startAltered(set(stored.two, 'updated_at = updated_at'));
        const { databaseFile } = to.parts.config;
        const bytes = selectRows(databaseFile, select, stored.one)[0]?.['value'] as Buffer;
        // The bytes after a data key are unused zeros, so only the key itself is changed.
        const length = what === 'the data key' ? 1 + bytes.readUInt8() : bytes.length;
        expect(length).to.be.greaterThan(60);
        for (let at = 0; at < length; at++) {
          const flipped = Buffer.from(bytes);
          flipped.writeUInt8(bytes.readUInt8(at) ^ (1 << (at & 7)), at);
          tamper(databaseFile, update, flipped, stored.one);
          expect((await auth(to, stored.one)).status, `byte ${at}`).to.equal(500);
        }
        tamper(databaseFile, update, bytes, stored.one);
        await expectOpen(to, stored.one, '"secret-one"');
      });
    }
  });

  describe('of connections', () => {
    const read = async (to: TestServer, index: 0 | 1): Promise<Secret> => {
      const [environment] = stored.environments;
      const { connections } = to.parts.store.read;
      const row = (await connections.get(environmentId(environment), stored.connections[index])) as ConnectionRow;
      return openClientSecret(to.parts.vault, row) as Secret;
    };
    const expectSealed = async (to: TestServer, index: 0 | 1) => {
      const outcome = await read(to, index).catch((error: unknown) => error);
      expect(outcome).to.be.instanceOf(VaultError);
      const answer = await to.call('GET', `/api/v1/connections/${stored.connections[index]}`);
      expect(answer.body.connection.has_client_secret).to.equal(true);
    };
    const put = (index: 0 | 1, expression: string, values: Record<string, unknown> = {}): [string, ...unknown[]] => [
      `update connections set client_secret_sealed = ${expression} where id = @id`,
      { id: stored.connections[index], ...values },
    ];

    it('can be decrypted in their own place (control)', async () => {
      const to = await startAltered(put(0, 'client_secret_sealed'));
      expect([(await read(to, 0)).reveal(), (await read(to, 1)).reveal()]).to.deep.equal([
        'secret-of-a',
        'secret-of-b',
      ]);
    });

    it('cannot be decrypted: the client secret of another connection', async () => {
      const other = '(select client_secret_sealed from connections where id = @other)';
      const to = await startAltered(put(0, other, { other: stored.connections[1] }));
      await expectSealed(to, 0);
      expect((await read(to, 1)).reveal()).to.equal('secret-of-b');
    });

    it('cannot be decrypted: the client secret of another connection with its data key', async () => {
      const its = (column: string) => `${column} = (select ${column} from connections where id = @other)`;
      const assignment = `${its('data_key')}, ${its('client_secret_sealed')}, ${its('client_binding')}`;
      const [id, other] = stored.connections;
      const to = await startAltered([`update connections set ${assignment} where id = @id`, { id, other }]);
      await expectSealed(to, 0);
      expect((await read(to, 1)).reveal()).to.equal('secret-of-b');
    });

    for (const [what, assignment] of [
      ['another generation', 'client_generation = client_generation + 1'],
      ['other addresses', `client_binding = json_insert(client_binding, '$.within[#]', 'https://evil.test')`],
      ['another method', `client_binding = json_set(client_binding, '$.method', 'other')`],
      ['another audience', `client_binding = json_set(client_binding, '$.audience', 'https://evil.test')`],
      ['another base', `client_binding = json_set(client_binding, '$.base', 'https://evil.test')`],
      [
        'pinned origins',
        `client_binding = json_set(client_binding, '$.pinned.byProvider', json('["https://evil.test"]'))`,
      ],
      ['no terms', 'client_binding = null'],
    ]) {
      it(`H2: cannot be decrypted under ${what}`, async () => {
        const id = stored.connections[0];
        const to = await startAltered([`update connections set ${assignment} where id = @id`, { id }]);
        await expectSealed(to, 0);
      });
    }

    it('cannot be decrypted: credentials of an account in their place', async () => {
      const to = await startAltered(
        put(0, '(select credentials_sealed from accounts where id = @one)', { one: stored.one }),
      );
      await expectSealed(to, 0);
    });

    it('cannot be decrypted: a secret of the deployment in their place', async () => {
      await expectSealed(
        await startAltered(put(0, `(select sealed from deployment_secrets where name = 'digest-key')`)),
        0,
      );
    });
  });

  describe('of the deployment', () => {
    for (const [one, other] of [
      ['digest-key', 'sealing-key'],
      ['signing-key', 'digest-key'],
    ]) {
      it(`prevent the server from starting: ${one} and ${other} exchanged`, async () => {
        const { path, alter } = copyOfFiles();
        const exchange = `update deployment_secrets set sealed = (
          select x.sealed from deployment_secrets x where x.name = case deployment_secrets.name when @one then @other else @one end
        ) where name in (@one, @other)`;
        expect(alter(exchange, { one, other })).to.equal(2);
        const outcome = await startTestServer(options(path)).catch((error: unknown) => error);
        expect(outcome).to.be.instanceOf(VaultError);
      });
    }
  });
});
