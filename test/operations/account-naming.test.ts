import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import type { TestResponse, TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const ACCOUNTS = '/api/v1/connected_accounts';

type Name = Record<string, string>;

/** How an operation names an account. */
interface Naming {
  id: string;
  send(server: TestServer, name: Name): Promise<TestResponse>;
  /** Whether a successful call changes or removes the account. */
  changes?: boolean;
}

const query = (path: string) => (server: TestServer, name: Name) =>
  server.call('GET', `${path}?${new URLSearchParams(name)}`);

const NAMINGS: Naming[] = [
  { id: 'getConnectedAccountDetails', send: query(`${ACCOUNTS}/details`) },
  { id: 'getConnectedAccountAuth', send: query(`${ACCOUNTS}/auth`) },
  {
    id: 'updateConnectedAccount',
    send: (server, name) => server.call('PUT', ACCOUNTS, { body: { ...name, connected_account: {} } }),
  },
  {
    id: 'disconnectConnectedAccount',
    send: (server, body) => server.call('POST', `${ACCOUNTS}:disconnect`, { body }),
    changes: true,
  },
  {
    id: 'deleteConnectedAccount',
    send: (server, body) => server.call('POST', `${ACCOUNTS}:delete`, { body }),
    changes: true,
  },
];

const FIELDS = ['id', 'organization_id', 'user_id', 'connector', 'identifier'] as const;
type Field = (typeof FIELDS)[number];
type Value = 'absent' | 'right' | 'wrong';
type Combination = Record<Field, Value>;

/** Returns all 243 combinations of the five fields, each absent, right or wrong. */
function combinations(): Combination[] {
  const values: Value[] = ['absent', 'right', 'wrong'];
  return FIELDS.reduce<Partial<Combination>[]>(
    (made, field) => made.flatMap((combination) => values.map((value) => ({ ...combination, [field]: value }))),
    [{}],
  ) as Combination[];
}

/** Returns the result that the contract promises for a combination: the status, and for 400 the missing fields. */
function promised(given: Combination): { status: number; missing: string[] } {
  const lacksOwner = given.organization_id === 'absent' && given.user_id === 'absent';
  const missing = [
    ...(given.connector === 'absent' ? ['connector'] : []),
    ...(given.identifier === 'absent' ? ['identifier'] : []),
    ...(lacksOwner ? ['organization_id'] : []),
  ];
  if (given.id === 'absent' && missing.length > 0) return { status: 400, missing };
  return { status: FIELDS.some((field) => given[field] === 'wrong') ? 404 : 200, missing: [] };
}

describe('the key of an account (C2)', () => {
  let server: TestServer;
  let account: Name;

  before(async () => {
    server = await startTestServer();
    const owner = { organization_id: 'org-1', user_id: 'user-1' };
    account = { id: await createOwned(owner), connector: 'github', identifier: 'ada@acme.test', ...owner };
    await createOwned({ organization_id: 'org-2', user_id: 'user-2' }, 'grace@acme.test');
  });
  after(() => server.stop());

  async function createOwned(owner: Name, identifier = 'ada@acme.test', connector = 'github'): Promise<string> {
    const answer = await server.call('POST', ACCOUNTS, { body: { connector, identifier, ...owner } });
    expect(answer.status, answer.text).to.equal(201);
    return answer.body.connected_account.id;
  }

  const WRONG: Name = {
    id: unknownId('ca'),
    organization_id: 'org-2',
    user_id: 'user-2',
    connector: 'slack',
    identifier: 'nobody@acme.test',
  };

  function nameOf(combination: Combination): Name {
    const given = FIELDS.filter((field) => combination[field] !== 'absent');
    return Object.fromEntries(
      given.map((field) => [field, (combination[field] === 'right' ? account : WRONG)[field] as string]),
    );
  }

  for (const { id, send, changes } of NAMINGS) {
    it(`in any of 243 combinations is complete, correct or refused at ${id}`, async () => {
      const all = combinations();
      expect(all).to.have.lengthOf(243);
      for (const combination of all) {
        const { status, missing } = promised(combination);
        if (changes && status === 200) continue;
        const answer = await send(server, nameOf(combination));
        const text = JSON.stringify(combination);
        expect(answer.status, text).to.equal(status);
        if (status === 400) {
          expect(answer.body.code, text).to.equal('INCOMPLETE_ACCOUNT_KEY');
          expect(
            answer.body.errors.map((e: { field: string }) => e.field),
            text,
          ).to.deep.equal(missing);
        }
        if (status === 404) expect(answer.body.detail, text).to.match(/^No connected account matches the request\./);
        if (status === 200) expect(answer.body.connected_account.id, text).to.equal(account['id']);
      }
    });

    it(`never selects the first of several matches at ${id}`, async () => {
      const of = (user: string) => ({ organization_id: `${id}-org`, user_id: user });
      const first = await createOwned(of('one'), 'shared');
      await createOwned(of('two'), 'shared');
      await createOwned({ organization_id: `${id}-org` }, 'shared');
      const key = { connector: 'github', identifier: 'shared' };
      const several = await send(server, { ...key, organization_id: `${id}-org` });
      expect(several.body).to.include({ status: 400, code: 'INCOMPLETE_ACCOUNT_KEY' });
      const one = await send(server, { ...key, ...of('one') });
      expect(one.status).to.equal(200);
      if (one.body) expect(one.body.connected_account.id).to.equal(first);
    });

    it(`with a provider that has several connections is 400 at ${id}, which lists them`, async () => {
      const short = id.replace('ConnectedAccount', '').toLowerCase();
      const provider = (
        await server.call('POST', '/api/v1/custom-providers', {
          body: { display_name: `Twice ${short}`, auth_patterns: [{ type: 'API_KEY' }] },
        })
      ).body.provider.identifier;
      const connections = [`${short}-eu`, `${short}-us`];
      for (const key_id of connections) {
        await server.call('POST', '/api/v1/connections', { body: { connector: provider, key_id } });
      }
      const inEurope = await createOwned({ user_id: 'u' }, 'i', `${short}-eu`);
      const key = { user_id: 'u', identifier: 'i' };
      const ambiguous = await send(server, { ...key, connector: provider });
      expect(ambiguous.body).to.include({ status: 400, code: 'AMBIGUOUS_CONNECTOR' });
      const [error] = ambiguous.body.errors;
      expect(error.field).to.equal('connector');
      for (const name of connections) expect(error.message).to.include(name);
      expect((await send(server, { ...key, connector: `${short}-us` })).status).to.equal(404);
      const named = await send(server, { ...key, connector: `${short}-eu` });
      expect(named.status).to.equal(200);
      if (named.body) expect(named.body.connected_account.id).to.equal(inEurope);
    });

    it(`with malformed fields is 400 at ${id}, which names them`, async () => {
      const key = { connector: 'github', identifier: 'ada@acme.test', user_id: 'user-1' };
      const cases: [Name, string][] = [
        [{ id: 'ca_123' }, 'id'],
        [{ id: `${account['id']}0` }, 'id'],
        [{ id: String(account['id']).toUpperCase() }, 'id'],
        [{ ...key, connector: 'git/hub' }, 'connector'],
        [{ ...key, connector: '' }, 'connector'],
        [{ ...key, identifier: '' }, 'identifier'],
        [{ ...key, identifier: 'a\u0000b' }, 'identifier'],
        [{ ...key, user_id: 'a\nb' }, 'user_id'],
        [{ ...key, organization_id: 'x'.repeat(101) }, 'organization_id'],
      ];
      for (const [name, field] of cases) {
        const answer = await send(server, name);
        expect(answer.body, JSON.stringify(name)).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(new Set(answer.body.errors.map((e: { field: string }) => e.field))).to.deep.equal(new Set([field]));
      }
    });
  }

  it('of an id and its provider’s name is accepted, unless that is the name of another connection', async () => {
    const body = { connector: 'notion', key_id: 'notion-eu', type: 'BEARER_TOKEN' };
    await server.call('POST', '/api/v1/connections', { body });
    const id = await createOwned({ user_id: 'u' }, 'i', 'notion-eu');
    const details = (connector: string) => server.call('GET', `${ACCOUNTS}/details?id=${id}&connector=${connector}`);
    expect((await details('notion-eu')).status).to.equal(200);
    expect((await details('notion')).status).to.equal(200);
    await server.call('POST', '/api/v1/connections', { body: { ...body, key_id: 'notion' } });
    expect((await details('notion')).status).to.equal(404);
  });

  it('is compared byte for byte: without case folding, normalization or trimming (C15)', async () => {
    const id = await createOwned({ user_id: 'U-1' }, 'José@acme.test');
    const find = (identifier: string, user: string) =>
      server.call(
        'GET',
        `${ACCOUNTS}/details?${new URLSearchParams({ connector: 'github', identifier, user_id: user })}`,
      );
    expect((await find('José@acme.test', 'U-1')).body.connected_account.id).to.equal(id);
    const lookAlikes = ['josé@acme.test', 'José@acme.test'.normalize('NFD'), ' José@acme.test', 'José@acme.test '];
    for (const identifier of lookAlikes) expect((await find(identifier, 'U-1')).status, identifier).to.equal(404);
    expect((await find('José@acme.test', 'u-1')).status).to.equal(404);
  });
});
