import { expect } from 'chai';
import type { EnvironmentRow, ReadRepositories } from '../../db/store.ts';
import { createEnvironmentLookup } from '../../http/pipeline/environments.ts';
import { testClock } from '../support/clock.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import { startTestServer } from '../support/server.ts';

function lookup(rows: Partial<EnvironmentRow>[]) {
  const clock = testClock();
  let asked = 0;
  let version = 0;
  const environments = {
    byHost: async (host: string) => {
      asked += 1;
      return rows.find((row) => row.hosts?.includes(host));
    },
    list: async () => rows,
  };
  const find = createEnvironmentLookup(
    { read: { environments } as unknown as ReadRepositories, settingsVersion: () => version },
    clock.now,
  );
  const change = () => version++;
  return { clock, rows, change, asked: () => asked, find: async (host?: string) => (await find(host)).id as string };
}

async function codeOf(run: Promise<unknown>): Promise<string> {
  return run.then(
    () => 'found',
    (error) => error.code,
  );
}

const LIVE = { id: 'env_live', kind: 'PRODUCTION', hosts: ['api.example.com', 'keys.customer.example'] } as never;
const DEV = { id: 'env_dev', kind: 'DEVELOPMENT', hosts: ['dev.example.com'] } as never;

describe('createEnvironmentLookup', () => {
  for (const [host, id] of [
    ['api.example.com', 'env_live'],
    ['API.Example.COM', 'env_live'],
    ['api.example.com:8443', 'env_live'],
    ['keys.customer.example', 'env_live'],
    ['dev.example.com', 'env_dev'],
    ['localhost', 'env_dev'],
    ['localhost:8080', 'env_dev'],
    ['app.localhost', 'env_dev'],
    ['127.0.0.1:8080', 'env_dev'],
    ['127.1.2.3', 'env_dev'],
    ['[::1]:8080', 'env_dev'],
    ['[::1]', 'env_dev'],
  ] as const) {
    it(`finds the environment of ${host}`, async () => expect(await lookup([LIVE, DEV]).find(host)).to.equal(id));
  }

  for (const host of [
    undefined,
    '',
    ':8080',
    'example.com',
    'api.example.com.',
    'api.example.com.evil.example',
    'evil-api.example.com',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'notlocalhost',
    '10.0.0.1',
    '[::2]',
    '%',
    "' or 1=1 --",
  ]) {
    it(`finds no environment for ${JSON.stringify(host)}`, async () => {
      expect(await codeOf(lookup([LIVE, DEV]).find(host))).to.equal('UNKNOWN_HOST');
    });
  }

  it('accepts loopback names for a development environment only', async () => {
    expect(await codeOf(lookup([LIVE]).find('localhost'))).to.equal('UNKNOWN_HOST');
  });

  it('reads the database once in five seconds, and applies a change after that', async () => {
    const { find, clock, rows, asked } = lookup([LIVE]);
    for (let times = 0; times < 10; times++) await find('api.example.com');
    expect(asked()).to.equal(1);
    rows.splice(0, 1, { id: 'env_other', kind: 'PRODUCTION', hosts: ['api.example.com'] } as never);
    clock.advance(4_999);
    expect(await find('api.example.com')).to.equal('env_live');
    clock.advance(1);
    expect(await find('api.example.com')).to.equal('env_other');
  });

  it('reads again immediately when the store was notified of a change of settings', async () => {
    const { find, change, rows, asked } = lookup([LIVE]);
    await find('api.example.com');
    rows.splice(0, 1, { id: 'env_other', kind: 'PRODUCTION', hosts: ['api.example.com'] } as never);
    expect(await find('api.example.com'), 'the control').to.equal('env_live');
    change();
    expect(await find('api.example.com')).to.equal('env_other');
    expect(asked()).to.equal(2);
  });

  it('looks up a previously unknown host again immediately', async () => {
    const { find, rows } = lookup([LIVE]);
    expect(await codeOf(find('new.example.com'))).to.equal('UNKNOWN_HOST');
    rows.push({ id: 'env_new', kind: 'PRODUCTION', hosts: ['new.example.com'] } as never);
    expect(await find('new.example.com')).to.equal('env_new');
  });
});

describe('environments over HTTP', () => {
  it('return 421 for an unknown host, before any other check', async () => {
    const server = await startTestServer();
    try {
      const headers = { host: 'unknown.example.com' };
      for (const request of [{ headers }, { headers, token: null }, { headers, token: 'broken' }]) {
        const answer = await server.call('GET', '/api/v1/connections', request);
        expect(answer.body).to.include({ status: 421, code: 'UNKNOWN_HOST' });
      }
      const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' };
      const token = await server.call('POST', '/oauth/token', { headers: form, body: 'grant_type=x', token: null });
      expect([token.status, token.body.error]).to.deep.equal([421, 'invalid_request']);
    } finally {
      await server.stop();
    }
  });

  it('keep their data separate from each other', async () => {
    const server = await startTestServer();
    try {
      const other = await addSecondEnvironment(server);
      const body = { connector: 'github', key_id: 'same-name' };
      const here = await server.call('POST', '/api/v1/connections', { body });
      const there = await other.call('POST', '/api/v1/connections', { body });
      expect([here.status, there.status]).to.deep.equal([201, 201]);
      const list = await other.call('GET', '/api/v1/connections');
      expect(list.body.connections.map((c: { id: string }) => c.id)).to.deep.equal([there.body.connection.id]);
    } finally {
      await server.stop();
    }
  });
});
