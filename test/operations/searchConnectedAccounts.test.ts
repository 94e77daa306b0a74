import { expect } from 'chai';
import { LIST } from '../../core/budgets.ts';
import type { AccountRow } from '../../db/store.ts';
import { createAccount } from '../support/accounts.ts';
import { walkPages } from '../support/pages.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import type { TestResponse, TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { firstEnvironment } from '../support/tokens.ts';

const PATH = '/api/v1/connected_accounts:search';

interface Summary {
  id: string;
  identifier: string;
}

describe('searchConnectedAccounts', () => {
  let server: TestServer;
  let connector: string;

  before(async () => {
    server = await startTestServer();
    connector = await createConnector('desk');
  });
  after(() => server.stop());

  /**
   * Creates a provider with a given name. A search also finds accounts by the name of their provider, so a number in
   * a generated name could match a query.
   */
  const createConnector = async (display_name: string) =>
    (await createProvider(server, { display_name, auth_patterns: [{ type: 'API_KEY' }] })).identifier;
  const search = (query: string, more: Record<string, string> = {}): Promise<TestResponse> =>
    server.call('GET', `${PATH}?${new URLSearchParams({ query, ...more })}`);
  const namesOf = ({ body }: TestResponse): string[] =>
    body.connected_accounts.map(({ identifier }: Summary) => identifier);

  async function expectFound(query: string, names: string[]): Promise<void> {
    const answer = await search(query);
    expect(answer.status, answer.text).to.equal(200);
    expect(namesOf(answer), query).to.deep.equal(names);
    expect(answer.body.total_size, query).to.equal(names.length);
  }

  describe('200', () => {
    it('returns summaries: every field of an account except its settings and credentials', async () => {
      const connectedAccount = {
        api_config: { note: 'in the settings' },
        authorization_details: { static_auth: { details: { api_key: 'secret-in-the-key' } } },
      };
      const account = await createAccount(server, { connector, identifier: 'summary@acme.test', connectedAccount });
      const { body, text } = await search('summary@');
      const { api_config: _config, authorization_details: _details, ...summary } = account;
      expect(body).to.deep.equal({
        connected_accounts: [summary],
        next_page_token: '',
        prev_page_token: '',
        total_size: 1,
      });
      expect(text).not.to.include('secret');
    });

    it('F6: reports the total as a lower bound beyond the counted matches, and still returns every page', async () => {
      const connectedAccount = { authorization_details: { static_auth: { details: { api_key: 'key' } } } };
      const first = await createAccount(server, { connector, identifier: 'crowd-0-@acme.test', connectedAccount });
      const { id: environment } = await firstEnvironment(server);
      const row = await server.parts.store.read.accounts.get(environment, first.id);
      const { seq: _seq, environmentId: _environmentId, version: _version, ...copy } = row as AccountRow;
      await server.parts.store.write(async (tx) => {
        for (let number = 1; number <= LIST.countedBySearch; number++) {
          const identifier = `crowd-${number.toString(36)}-@acme.test`;
          await tx.accounts.insert(environment, { ...copy, id: server.parts.newId('ca'), identifier });
        }
      });
      expect((await search('crowd-')).body).to.deep.include({ total_size: 1000, total_size_is_lower_bound: true });
      const names = new Set<string>();
      let page = await search('crowd-', { page_size: '100' });
      for (;;) {
        for (const name of namesOf(page)) names.add(name);
        if (page.body.next_page_token === '') break;
        page = await search('crowd-', { page_size: '100', page_token: page.body.next_page_token });
      }
      expect(names.size).to.equal(1001);
      expect((await search('crowd-10')).body)
        .to.include({ total_size: 1 })
        .and.not.to.have.property('total_size_is_lower_bound');
    });

    it('searches identifiers, providers and connectors, and no other fields (C6)', async () => {
      const provider = await createConnector('warehouse');
      await createConnection(server, { connector: provider, key_id: 'key of a connection' });
      const body = {
        connector: 'key of a connection',
        identifier: 'the-identifier',
        organization_id: 'the-organization',
        user_id: 'the-owner',
        connected_account: {
          api_config: { place: 'the-settings' },
          authorization_details: { static_auth: { details: { api_key: 'the-secret-key' } } },
        },
      };
      await server.call('POST', '/api/v1/connected_accounts', { body });
      for (const query of ['the-identifier', 'key of a conn', provider]) await expectFound(query, ['the-identifier']);
      for (const query of [
        'the-organization',
        'the-owner',
        'the-settings',
        'the-secret',
        'ACTIVE',
        'API_KEY',
        'ca_0',
      ]) {
        await expectFound(query, []);
      }
    });

    it('does not find a text that extends over two fields', async () => {
      await createAccount(server, { connector, identifier: 'border', connectedAccount: {} });
      await expectFound(`border${connector.slice(0, 3)}`, []);
      await expectFound(`border\n${connector.slice(0, 3)}`, []);
    });

    it('lists the newest first, and no deleted accounts', async () => {
      const create = async (identifier: string) =>
        (await createAccount(server, { connector, identifier, connectedAccount: {} })).id;
      await create('order-one');
      const two = await create('order-two');
      await create('order-three');
      await expectFound('order-', ['order-three', 'order-two', 'order-one']);
      await server.call('POST', '/api/v1/connected_accounts:delete', { body: { id: two } });
      await expectFound('order-', ['order-three', 'order-one']);
    });

    it('can be limited to a connection', async () => {
      const other = await createConnector('kiosk');
      const here = await createAccount(server, { connector, identifier: 'narrow-here', connectedAccount: {} });
      await createAccount(server, { connector: other, identifier: 'narrow-there', connectedAccount: {} });
      const found = await search('narrow-', { connection_id: String(here['connection_id']) });
      expect(namesOf(found)).to.deep.equal(['narrow-here']);
      expect(found.body.total_size).to.equal(1);
      expect(namesOf(await search('narrow-', { connection_id: 'conn_unknown' }))).to.deep.equal([]);
    });

    it('reaches the end and the beginning in pages', async () => {
      const names = Array.from({ length: 9 }, (_, index) => `walk-${index}`);
      for (const identifier of names) await createAccount(server, { connector, identifier, connectedAccount: {} });
      for (const size of [1, 4, 9, 10]) {
        const pages = await walkPages(server, `${PATH}?query=walk-&page_size=${size}`, 'connected_accounts');
        expect(pages.flat().map(({ identifier }) => identifier)).to.deep.equal([...names].reverse());
      }
    });

    it('requires no scope except that of reading accounts', async () => {
      const answer = await server.call('GET', `${PATH}?query=order-`, { token: server.token('accounts:read') });
      expect(answer.status).to.equal(200);
    });
  });

  describe('200 with characters that have no special meaning', () => {
    const IDENTIFIERS = [
      'Ada.Lovelace@Acme.Test',
      'under_score@acme.test',
      'underXscore@acme.test',
      '100%sure',
      '100 sure',
      `it's "quoted"`,
      'back\\slash',
      'star*fish',
      'near(far)',
      'cats AND dogs OR NOT birds',
      'column:filter^2 -minus +plus',
      'STRASSE',
      'straße',
      'ÉCLAIR',
      'Ωmega',
      '日本語の名前',
      '🦊🦊🦊 foxes',
      'a\u200bb\u202ec',
      'İstanbul',
    ];

    before(async () => {
      for (const identifier of IDENTIFIERS)
        await createAccount(server, { connector, identifier, connectedAccount: {} });
    });

    const CASES: [string, string[]][] = [
      ['ada.love', ['Ada.Lovelace@Acme.Test']],
      ['ADA.LOVE', ['Ada.Lovelace@Acme.Test']],
      ['lovelace@acme', ['Ada.Lovelace@Acme.Test']],
      ['adaXlove', []],
      ['der_sco', ['under_score@acme.test']],
      ['___', []],
      ['%%%', []],
      ['00%', ['100%sure']],
      ['100', ['100 sure', '100%sure']],
      [`t's "q`, [`it's "quoted"`]],
      ['"quoted"', [`it's "quoted"`]],
      ['"""', []],
      ["' or 1=1 --", []],
      ['k\\sl', ['back\\slash']],
      ['\\\\\\', []],
      ['ar*f', ['star*fish']],
      ['sta*', []],
      ['***', []],
      ['near(far)', ['near(far)']],
      ['cats AND dogs', ['cats AND dogs OR NOT birds']],
      ['cats dogs', []],
      ['NOT birds', ['cats AND dogs OR NOT birds']],
      ['cats OR fish', []],
      ['search_text:cats', []],
      ['filter^2', ['column:filter^2 -minus +plus']],
      ['-minus +p', ['column:filter^2 -minus +plus']],
      ['strasse', ['straße', 'STRASSE']],
      ['éclair', ['ÉCLAIR']],
      ['eclair', []],
      ['ωMEG', ['Ωmega']],
      ['本語の', ['日本語の名前']],
      ['🦊🦊🦊', ['🦊🦊🦊 foxes']],
      ['a\u200bb', ['a\u200bb\u202ec']],
      ['İst', ['İstanbul']],
    ];
    for (const [query, names] of CASES) {
      it(`finds ${names.length} by ${JSON.stringify(query)} (C6)`, () => expectFound(query, names));
    }
  });

  describe('the length of the query', () => {
    const long = 'long-'.repeat(40);

    before(async () => {
      await createAccount(server, { connector, identifier: `${long}!`, connectedAccount: {} });
      await createAccount(server, { connector, identifier: '😀😀😀', connectedAccount: {} });
    });

    it('is 3 to 200 characters, counted as users see them', async () => {
      expect(long).to.have.lengthOf(200);
      await expectFound(long, [`${long}!`]);
      await expectFound('lon', [`${long}!`]);
      await expectFound('😀😀😀', ['😀😀😀']);
      expect((await search('😀'.repeat(200))).status).to.equal(200);
    });

    it('is that of the text without white space at its ends', async () => {
      for (const query of ['  lon  ', '\tlon\n', '\u00a0lon\u3000']) await expectFound(query, [`${long}!`]);
      await expectFound(`   ${long}   `, [`${long}!`]);
      expect(namesOf(await search('n g'))).to.deep.equal([]);
    });

    for (const query of [
      '',
      '  ',
      'lo',
      ' lo ',
      '\t\t\t',
      '%',
      '😀😀',
      '  😀  ',
      `${long}x`,
      '😀'.repeat(201),
      'x'.repeat(1000),
    ]) {
      const text = query.length > 20 ? `${[...query].length} characters` : JSON.stringify(query);
      it(`refuses ${text}: 400`, async () => {
        const { body } = await search(query);
        expect(body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(body.errors[0].field).to.equal('query');
      });
    }

    it('refuses a query without a length limit, and a duplicate one: 400', async () => {
      expect((await search('x'.repeat(1001))).body.errors[0].field).to.equal('query');
      expect((await server.call('GET', `${PATH}?query=abc&query=def`)).body.errors[0].field).to.equal('query');
      expect((await server.call('GET', PATH)).body.errors).to.deep.equal([{ field: 'query', message: 'is required' }]);
    });
  });

  it('refuses a filter that only the list has: 400', async () => {
    expect((await search('abc', { status: 'ACTIVE' })).body.errors[0].field).to.equal('status');
  });
});
