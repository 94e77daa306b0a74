import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import type { ChildServer } from '../support/child-server.ts';
import { runCommand, startChildServer } from '../support/child-server.ts';
import { createConnection } from '../support/providers.ts';
import { tempDir } from '../support/temp-dir.ts';

const IN_AN_HOUR = 'const { now } = Date; Date.now = () => now() + 3_600_000;';

/** Rotates the key-encryption key while a server is running: three processes with one database and one key file. */
describe('valetkey keys', () => {
  const folder = tempDir();
  const keysFile = join(folder.path, 'keys');
  let server: ChildServer;

  const said: string[] = [];
  const contents: string[] = [];

  const run = async (args: string[], before?: string) => {
    const result = await runCommand(['keys', ...args], { DATA_DIR: folder.path }, { before });
    said.push(result.stdout, result.stderr);
    contents.push(readFileSync(keysFile, 'utf8'));
    return result;
  };
  const listed = async () => {
    const { stdout } = await run(['list']);
    return stdout
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => {
        const [id = '', state = '', records = ''] = line.split(/ {2,}/);
        return { id, state: state.trim(), records: Number.parseInt(records, 10) };
      });
  };
  const authOf = (id: string) => server.call('GET', `/api/v1/connected_accounts/auth?id=${id}`);

  before(async () => {
    server = await startChildServer({ DATA_DIR: folder.path });
  });
  after(async () => {
    await server.stop();
    folder.remove();
  });

  it('rotates the key while requests read and write, and none of them fails', async () => {
    const ids: string[] = [];
    for (let made = 0; made < 30; made++) ids.push((await createAccount(server, { token: `ghp_before${made}` })).id);
    await createConnection(server, { key_id: 'with-secret', client_id: 'id', client_secret: 'the-client-secret' });
    const [before] = await listed();

    let isOver = false;
    const failures: string[] = [];
    let served = 0;
    const hammer = async (worker: number) => {
      for (let count = 0; !isOver; count++) {
        const { id } = await createAccount(server, { token: `ghp_during${worker}x${count}` });
        const changed = await server.call('PUT', '/api/v1/connected_accounts', {
          body: {
            id,
            connected_account: { authorization_details: { static_auth: { details: { token: 'ghp_changed' } } } },
          },
        });
        const read = await authOf(id);
        const old = await authOf(ids[(worker * 7 + count) % ids.length] as string);
        const token = await server.call('GET', '/readyz');
        for (const answer of [changed, read, old, token]) if (answer.status !== 200) failures.push(answer.text);
        if (!read.text.includes('ghp_changed')) failures.push(read.text);
        served += 1;
      }
    };
    const workers = [hammer(0), hammer(1), hammer(2)];
    const rotation = await run(['rotate']);
    const at = served;
    while (served < at + 6 && failures.length === 0) await authOf(ids[0] as string);
    isOver = true;
    await Promise.all(workers);

    expect(failures).to.deep.equal([]);
    expect(rotation.code, rotation.stderr).to.equal(0);
    expect(rotation.stdout)
      .to.include('New active key: kek_')
      .and.to.include('Every record is encrypted under the active key');
    const [active, old] = await listed();
    expect([active?.state, old?.state, old?.id]).to.deep.equal(['active', 'old', before?.id]);
    expect(old?.records, 'records that still need the old key').to.equal(0);
    expect(active?.records).to.be.at.least(30);
    expect(statSync(keysFile).mode & 0o777).to.equal(0o600);
    for (let made = 0; made < 30; made++)
      expect((await authOf(ids[made] as string)).text).to.include(`ghp_before${made}`);
  });

  it('does not remove a key within a minute, the active key, or an unknown key', async () => {
    const [active, old] = await listed();
    const content = readFileSync(keysFile, 'utf8');
    const cases: [string, string][] = [
      [old?.id ?? '', 'Try again in a minute'],
      [active?.id ?? '', 'active key'],
      ['kek_0000000000000000', 'There is no key kek_0000000000000000'],
    ];
    const results = await Promise.all(cases.map(([id]) => run(['retire', id])));
    for (const [index, { code, stderr }] of results.entries()) {
      expect([code, stderr.trim().split('\n').length], stderr).to.deep.equal([1, 1]);
      expect(stderr).to.include(cases[index]?.[1]);
    }
    expect(readFileSync(keysFile, 'utf8')).to.equal(content);
  });

  it('removes the old key afterwards, and the server continues with the new one', async () => {
    const { id } = await createAccount(server, { token: 'ghp_beforeRetiring' });
    const [active, old] = await listed();
    const retired = await run(['retire', old?.id as string], IN_AN_HOUR);
    expect(retired.code, retired.stderr).to.equal(0);
    expect(readFileSync(keysFile, 'utf8')).not.to.include(old?.id);
    expect((await listed()).map((key) => key.id)).to.deep.equal([active?.id]);
    expect((await authOf(id)).text).to.include('ghp_beforeRetiring');
    expect((await createAccount(server, { token: 'ghp_afterRetiring' })).id).to.match(/^ca_/);
  });

  it('does not change a database that already uses the new key', async () => {
    const { code } = await server.stop();
    expect(code).to.equal(0);
    server = await startChildServer({ DATA_DIR: folder.path });
    const list = await server.call('GET', '/api/v1/connected_accounts?page_size=100');
    for (const { id } of list.body.connected_accounts) expect((await authOf(id)).status).to.equal(200);
    const connection = await server.call('GET', '/api/v1/connections?page_size=100');
    expect(connection.body.connections.map((c: { key_id: string }) => c.key_id)).to.include('with-secret');
  });

  it('prints only the ids of keys', () => {
    const keys = contents.flatMap((content) => content.match(/(?<=^kek_[^:]*:).+$/gm) ?? []);
    expect(new Set(keys).size).to.equal(2);
    const printed = [...said, ...server.logs, server.errors()].join('\n');
    expect(printed).to.include('kek_');
    for (const key of keys) expect(printed).not.to.include(key);
  });
});
