import { expect } from 'chai';
import type { Store } from '../../db/store.ts';
import { wrap } from '../../wiring/overrides.ts';
import { auditOf } from '../support/audit.ts';
import { NO_BACKGROUND } from '../support/no-background.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/tools:import';

/** Returns a document with the given paths, whose operations return nothing. */
function documentOf(paths: Record<string, object>, more: object = {}): string {
  return JSON.stringify({
    openapi: '3.0.3',
    info: { title: 'Acme CRM', version: '1', description: 'Customers of Acme.' },
    servers: [{ url: 'https://api.acme.example/v1' }],
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    security: [{ token: [] }],
    paths,
    ...more,
  });
}

const LIST = { operationId: 'listCustomers', summary: 'List customers' };
const GET_ONE = { operationId: 'getCustomer', summary: 'Get a customer' };

describe('importTools', () => {
  let server: TestServer;
  let made = 0;
  /** Counts the turns of the event loop between the pieces of transactions. */
  let turns = 0;

  function counted({ write }: Store): Store['write'] {
    return (unit) =>
      write((tx) => {
        const yieldToEventLoop = () => {
          turns++;
          return tx.yieldToEventLoop();
        };
        return unit(Object.create(tx, { yieldToEventLoop: { value: yieldToEventLoop } }));
      });
  }

  const newConnector = () => `acme-${++made}`;
  const send = (connector: string, content: string, fields: object = {}, headers: Record<string, string> = {}) =>
    server.call('POST', PATH, { body: { connector, files: [{ name: 'openapi.json', content }], ...fields }, headers });

  before(async () => {
    server = await startTestServer({
      overrides: { ...NO_BACKGROUND, store: wrap((store) => ({ ...store, write: counted(store) })) },
    });
  });
  after(() => server.stop());

  describe('200', () => {
    it('returns the changes of an import, and changes nothing', async () => {
      const connector = newConnector();
      const answer = await send(connector, documentOf({ '/customers': { get: LIST } }));
      expect(answer.status, answer.text).to.equal(200);
      const prefix = connector.replace('-', '_');
      expect(answer.body.applied).to.equal(false);
      expect(answer.body.provider).to.deep.equal({
        identifier: connector,
        action: 'created',
        base_url: 'https://api.acme.example/v1',
        authorization_types: ['BEARER_TOKEN'],
        accounts_parked: 0,
      });
      expect(answer.body.changes).to.deep.equal({
        added: [`${prefix}_list_customers`],
        changed: [],
        removed: [],
        unchanged: 0,
      });
      expect((await server.call('GET', `/api/v1/custom-providers/${connector}`)).status).to.equal(404);
    });

    it('stores the provider and its tools, which can then be executed', async () => {
      const connector = newConnector();
      const applied = await send(connector, documentOf({ '/customers/{id}': { get: GET_ONE } }), { apply: true });
      expect(applied.body.applied, applied.text).to.equal(true);
      const [name] = applied.body.changes.added;
      const provider = await server.call('GET', `/api/v1/custom-providers/${connector}`);
      expect(provider.body.provider).to.include({ display_name: 'Acme CRM', description: 'Customers of Acme.' });
      const account = {
        connector,
        identifier: 'ada',
        user_id: 'user_ada',
        connected_account: { authorization_details: { static_auth: { details: { token: 'tok_1' } } } },
      };
      expect((await server.call('POST', '/api/v1/connected_accounts', { body: account })).status).to.equal(201);
      const run = {
        connector,
        identifier: 'ada',
        user_id: 'user_ada',
        tool_name: name,
        tool_input: { id: 'c 1' },
        dry_run: true,
      };
      const dry = await server.call('POST', '/api/v1/execute_tool', { body: run });
      expect(dry.status, dry.text).to.equal(200);
      expect(dry.body.dry_run_request).to.deep.include({
        method: 'GET',
        url: 'https://api.acme.example/v1/customers/c%201',
      });
      const [row] = await auditOf(server, connector);
      expect(row).to.include({ action: 'tools.imported' });
    });

    it('returns the changes of a later document, keeps names, and removes tools that the document no longer has', async () => {
      const connector = newConnector();
      const first = documentOf({
        '/a': { get: LIST },
        '/b': { get: { operationId: 'old' } },
        '/c': { get: { operationId: 'same' } },
      });
      await send(connector, first, { apply: true });
      const renamed = { operationId: 'listAllCustomers', summary: 'List every customer' };
      const second = documentOf({
        '/a': { get: renamed },
        '/c': { get: { operationId: 'same' } },
        '/d': { get: { operationId: 'new' } },
      });
      const prefix = connector.replace('-', '_');
      const expected = {
        added: [`${prefix}_new`],
        changed: [`${prefix}_list_customers`],
        removed: [`${prefix}_old`],
        unchanged: 1,
      };
      const shown = await send(connector, second);
      expect(shown.body.changes).to.deep.equal(expected);
      expect(shown.body.provider.action).to.equal('kept');
      expect((await send(connector, second, { apply: true })).body.changes).to.deep.equal(expected);
      const again = { added: [], changed: [], removed: [], unchanged: 3 };
      expect((await send(connector, second)).body.changes).to.deep.equal(again);
    });

    it('lets other work of the event loop run while it stores, replaces and removes many tools', async () => {
      const connector = newConnector();
      const many = (summary: string) =>
        Object.fromEntries(
          Array.from({ length: 501 }, (_, n) => [`/things/${n}`, { get: { operationId: `get${n}`, summary } }]),
        );
      const turnsOf = async (act: () => Promise<{ status: number }>) => {
        turns = 0;
        expect((await act()).status).to.be.below(300);
        return turns;
      };
      const one = () => send(connector, documentOf({ '/customers': { get: LIST } }), { apply: true });
      expect(await turnsOf(one)).to.equal(0);
      const all = (summary: string) => send(connector, documentOf(many(summary)), { apply: true, limit: 501 });
      // 501 tools are compared and written in three pieces each.
      expect(await turnsOf(() => all('Get a thing'))).to.equal(4);
      expect(await turnsOf(() => all('Get another thing'))).to.equal(4);
      // Deletions are done in eleven smaller pieces.
      expect(await turnsOf(one)).to.equal(10);
      await all('Get a thing');
      const remove = () => server.call('DELETE', `/api/v1/custom-providers/${connector}`);
      expect(await turnsOf(remove)).to.equal(10);
      const left = await server.call('GET', `/api/v1/tools?connector=${connector}`);
      expect(left.body.tools ?? []).to.deep.equal([]);
    });

    it('creates a value of each account for a placeholder in the address', async () => {
      const connector = newConnector();
      const fields = { apply: true, base_url: 'https://{{subdomain}}.acme.example/api' };
      expect((await send(connector, documentOf({ '/a': { get: LIST } }), fields)).status).to.equal(200);
      const { provider } = (await server.call('GET', `/api/v1/custom-providers/${connector}`)).body;
      expect(provider.auth_patterns[0].account_fields[0].field_name).to.equal('subdomain');
    });

    it('accepts larger bodies than other operations', async () => {
      const description = 'x'.repeat(600_000);
      const answer = await send(newConnector(), documentOf({ '/a': { get: { ...LIST, description } } }));
      expect(answer.status, answer.text).to.equal(200);
    });

    it('returns the same again for one idempotency key', async () => {
      const headers = { 'idempotency-key': 'import-1' };
      const connector = newConnector();
      const first = await send(connector, documentOf({ '/a': { get: LIST } }), { apply: true }, headers);
      const second = await send(connector, documentOf({ '/a': { get: LIST } }), { apply: true }, headers);
      expect(second.body).to.deep.equal(first.body);
      expect(second.headers['idempotency-replayed']).to.equal('true');
    });
  });

  describe('403', () => {
    it('M6: INSUFFICIENT_SCOPE when a client with only tools:write creates, moves or renames a provider', async () => {
      const connector = newConnector();
      const document = documentOf({ '/a': { get: LIST } });
      const writer = server.token('tools:write');
      const importAs = (token: string | undefined, fields: object) =>
        server.call('POST', PATH, {
          body: { connector, files: [{ name: 'openapi.json', content: document }], apply: true, ...fields },
          ...(token !== undefined && { token }),
        });
      const made = await importAs(writer, {});
      expect(made.body).to.include({ status: 403, code: 'INSUFFICIENT_SCOPE' });
      expect(made.body.detail).to.equal(
        `The import creates the provider ${connector}, which needs the scope providers:write.`,
      );
      expect(made.headers['www-authenticate']).to.equal('Bearer error="insufficient_scope", scope="providers:write"');
      expect((await server.call('GET', `/api/v1/custom-providers/${connector}`)).status).to.equal(404);
      expect((await importAs(writer, { apply: false })).status, 'a preview changes nothing').to.equal(200);

      expect((await importAs(undefined, {})).body.provider.action).to.equal('created');
      const stored = (await server.call('GET', `/api/v1/custom-providers/${connector}`)).body.provider;
      for (const fields of [{ base_url: 'https://other.example' }, { display_name: 'Another' }]) {
        const changed = await importAs(writer, fields);
        expect(changed.body.detail, changed.text).to.include(`changes the provider ${connector}`);
      }
      expect((await server.call('GET', `/api/v1/custom-providers/${connector}`)).body.provider).to.deep.equal(stored);
      for (const fields of [{}, { base_url: stored.proxy_url }, { display_name: stored.display_name }]) {
        const kept = await importAs(writer, fields);
        expect([kept.status, kept.body.provider?.action], kept.text).to.deep.equal([200, 'kept']);
      }
    });
  });

  describe('400', () => {
    const codeOf = async (answer: ReturnType<typeof send>) => (await answer).body;

    it('INVALID_DOCUMENT for a file that is not an OpenAPI document', async () => {
      for (const content of ['{}', 'just text', '{"openapi":"4.0.0"}', '{"openapi":"3.1.0","paths":{}}', '"']) {
        expect(await codeOf(send(newConnector(), content)), content).to.include({
          status: 400,
          code: 'INVALID_DOCUMENT',
        });
      }
    });

    it('INVALID_DOCUMENT without a server address', async () => {
      const body = await codeOf(send(newConnector(), documentOf({ '/a': { get: LIST } }, { servers: [] })));
      expect(body.errors[0].field).to.equal('base_url');
    });

    it('L6: INVALID_DOCUMENT for a server whose address is longer than base_url may be, in a short response', async () => {
      const servers = [{ url: `https://api.acme.example/${'v'.repeat(100_000)}` }];
      const answer = await send(newConnector(), documentOf({ '/a': { get: LIST } }, { servers }));
      expect([answer.status, answer.body.errors?.[0].field]).to.deep.equal([400, 'base_url']);
      expect(answer.text.length).to.be.below(2000);
    });

    it('names the overlay that cannot be applied', async () => {
      const overlays = [{ name: 'o.yaml', content: 'overlay: 1.0.0\nactions: [{ target: "$[", update: {} }]' }];
      const body = await codeOf(send(newConnector(), documentOf({ '/a': { get: LIST } }), { overlays }));
      expect(body.errors[0].field).to.equal('overlays[0].actions[0].target');
    });

    it('VALIDATION_FAILED for a built-in connector, and for a forbidden address', async () => {
      expect(await codeOf(send('github', documentOf({ '/a': { get: LIST } })))).to.include({
        code: 'VALIDATION_FAILED',
      });
      const inside = documentOf({ '/a': { get: LIST } }, { servers: [{ url: 'https://10.0.0.1' }] });
      expect(await codeOf(send(newConnector(), inside))).to.include({ code: 'VALIDATION_FAILED' });
    });
  });
});
