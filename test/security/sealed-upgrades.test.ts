import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { AuthPattern } from '../../core/connectors/auth-pattern.ts';
import { type Catalogue, createCatalogue } from '../../core/connectors/catalogue.ts';
import { readCatalogueIndex } from '../../core/connectors/catalogue-index.ts';
import type { Connector } from '../../core/connectors/provider.ts';
import { createAccount } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { createConnection } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { accountRow } from '../support/states.ts';
import { tempDir } from '../support/temp-dir.ts';

const INDEX = readCatalogueIndex(readFileSync(new URL('../../generated/catalogue.json', import.meta.url), 'utf8'));
const SECRET = 'canaryOfTheUpgrade';

type Change = (connector: Connector) => void;

/** Returns the catalogue of another version of the program, in which one connector differs. */
function catalogueWith(identifier: string, change: Change): Catalogue {
  const connector = structuredClone(INDEX.connectors[identifier]) as Connector;
  change(connector);
  return createCatalogue({ ...INDEX, connectors: { ...INDEX.connectors, [identifier]: connector } });
}

const patternOf = ({ auth_patterns }: Connector, type: string) =>
  auth_patterns.find((pattern) => pattern.type === type) as AuthPattern;

/** A new version of the program must not use stored credentials in a way that the old version did not. */
describe('accounts of a built-in connector that an upgrade changes', () => {
  const folders: { remove(): void }[] = [];
  let server: TestServer;

  afterEach(() => server?.stop());
  after(() => {
    for (const folder of folders) folder.remove();
  });

  /** Connects an account with the program as it is, and starts the next version on the same files. */
  async function upgrade(
    identifier: string,
    change: Change,
    connectedAccount: Record<string, unknown>,
    fields: object = {},
  ) {
    const folder = tempDir();
    folders.push(folder);
    const first = await startTestServer({ dataDir: folder.path });
    server = first;
    const connection = await createConnection(first, { connector: identifier, ...fields });
    const { id } = await createAccount(first, { connector: connection.key_id, connectedAccount });
    expect((await accountRow(first, id)).status).to.equal('ACTIVE');
    await first.stop();
    server = await startTestServer({
      dataDir: folder.path,
      overrides: { catalogue: catalogueWith(identifier, change) },
    });
    return { id, connection, dataDir: folder.path };
  }

  const typed = (details: Record<string, string>) => ({ authorization_details: { static_auth: { details } } });
  const token = typed({ token: SECRET });
  const github = { type: 'BEARER_TOKEN' };
  const expectParked = async (id: string, reason: RegExp) => {
    const row = await accountRow(server, id);
    expect(row.status).to.equal('PENDING_AUTH');
    expect(row.statusReason).to.match(reason);
    const [event] = await auditOf(server, id);
    expect(event).to.include({ action: 'connected_account.parked', actor: 'system' });
  };

  it('stay in use when nothing relevant to them changes in the connector', async () => {
    const change: Change = (connector) => {
      connector.display_name = 'Another name';
      patternOf(connector, 'BEARER_TOKEN').description = 'Other words';
    };
    const { id } = await upgrade('github', change, token, github);
    expect(await accountRow(server, id)).to.include({ status: 'ACTIVE' });
  });

  it('H1: are deactivated when a field that was secret would become public, and return no value of it', async () => {
    const change: Change = (connector) => {
      const pattern = patternOf(connector, 'BASIC');
      pattern.fields = pattern.fields?.map((field) => ({ ...field, input_type: 'text' }));
      pattern.fields?.push({ field_name: 'password', label: 'P', input_type: 'password' });
    };
    const account = { api_config: { domain: 'acme' }, ...typed({ username: SECRET }) };
    const { id } = await upgrade('freshdesk', change, account, { type: 'BASIC' });
    await expectParked(id, /which was secret when the account was connected/);
    const partial = { id, connected_account: { api_config: { note: 'x' } } };
    await server.call('PUT', '/api/v1/connected_accounts', { body: partial });
    const { text } = await server.call('GET', `/api/v1/connected_accounts/details?id=${id}`);
    expect(text).not.to.include(SECRET);
  });

  it('H1: no longer return a field that has become secret', async () => {
    const change: Change = (connector) => {
      const pattern = patternOf(connector, 'BASIC');
      pattern.fields = pattern.fields?.map((field) => ({ ...field, input_type: 'password' }));
    };
    const details = { username: SECRET, password: 'p' };
    const config = { api_config: { base_url: 'https://api.acme.example' } };
    const { id } = await upgrade('http', change, { ...config, ...typed(details) }, { type: 'BASIC' });
    expect(JSON.stringify((await accountRow(server, id)).publicDetails)).not.to.include(SECRET);
  });

  const moves: [what: string, reason: RegExp, change: Change][] = [
    [
      'M1: its token goes into another header',
      /different place/,
      (connector) => {
        patternOf(connector, 'BEARER_TOKEN').auth_header_key_override = 'X-Token';
      },
    ],
    [
      'P2: its API moves to another host',
      /hosts/,
      (connector) => {
        connector.api.base_url = 'https://api.github.example';
      },
    ],
    [
      'its type is no longer offered',
      /no longer offers/,
      (connector) => {
        connector.auth_patterns = connector.auth_patterns.filter(({ type }) => type !== 'BEARER_TOKEN');
      },
    ],
  ];
  for (const [what, reason, change] of moves) {
    it(`are deactivated when ${what}`, async () => {
      const { id } = await upgrade(
        'github',
        (connector) => {
          if (!connector.api.base_url?.includes('github.com')) throw new Error('the connector has another base');
          change(connector);
        },
        token,
        github,
      );
      await expectParked(id, reason);
    });
  }

  it('M9: are deactivated when the API moves to another path, but not when to another version', async () => {
    for (const [base, status] of [
      ['https://api.notion.com/v2', 'ACTIVE'],
      ['https://api.notion.com/tenants', 'PENDING_AUTH'],
    ] as const) {
      const change: Change = (connector) => {
        expect(connector.api.base_url).to.equal('https://api.notion.com/v1');
        connector.api.base_url = base;
      };
      const { id } = await upgrade('notion', change, token, github);
      expect((await accountRow(server, id)).status, base).to.equal(status);
      await server.stop();
    }
  });

  it('H2: lose the client of their connection when it would be used at another host', async () => {
    const change: Change = (connector) => {
      const config = patternOf(connector, 'OAUTH').oauth_config;
      if (config) config.token_uri = 'https://evil.example/token';
    };
    const client = { type: 'OAUTH', client_id: 'app', client_secret: SECRET };
    const oauth_token = { access_token: 'a', refresh_token: 'r' };
    const { connection, id, dataDir } = await upgrade(
      'github',
      change,
      { authorization_details: { oauth_token } },
      client,
    );
    const shown = async () => (await server.call('GET', `/api/v1/connections/${connection.id}`)).body.connection;
    expect(await shown()).to.include({ status: 'DRAFT', has_client_secret: false });
    await expectParked(id, /hosts/);
    const events = (await auditOf(server, connection.id)).map(({ action }) => action);
    expect(events).to.deep.equal(['connection.client_withdrawn', 'connection.created']);
    // The next start with the same version changes nothing.
    const before = await auditOf(server, id);
    await server.stop();
    server = await startTestServer({ dataDir, overrides: { catalogue: catalogueWith('github', change) } });
    expect(await auditOf(server, id)).to.deep.equal(before);
  });

  it('H2: keep the client when only the path of an address changes', async () => {
    const change: Change = (connector) => {
      const config = patternOf(connector, 'OAUTH').oauth_config;
      if (config) config.token_uri = new URL('/login/v2/access_token', config.token_uri).href;
    };
    const client = { type: 'OAUTH', client_id: 'app', client_secret: SECRET };
    const oauth_token = { access_token: 'a', refresh_token: 'r' };
    const { connection } = await upgrade('github', change, { authorization_details: { oauth_token } }, client);
    const { body } = await server.call('GET', `/api/v1/connections/${connection.id}`);
    expect(body.connection).to.include({ status: 'COMPLETED', has_client_secret: true });
  });
});
