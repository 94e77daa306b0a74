import { expect } from 'chai';
import type { ToolRequest } from '../../core/tools/tool.ts';
import { auditOf } from '../support/audit.ts';
import { execute } from '../support/execute.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { toolBody } from '../support/own-tools.ts';
import { createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

const PATH = '/api/v1/tools';

// biome-ignore lint/suspicious/noExplicitAny: the changes break the types on purpose
type Breakable = any;

/** Definitions of which each applies the next one twice. */
function doubling(levels: number): Record<string, object> {
  const defs: Record<string, object> = { [`d${levels}`]: { type: 'object' } };
  for (let level = 0; level < levels; level++) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    defs[`d${level}`] = { allOf: [next, next] };
  }
  return defs;
}

describe('createTool', () => {
  let acme: Upstream;
  let server: TestServer;
  let connector: string;

  const create = (body: Record<string, unknown>) => server.call('POST', PATH, { body });

  before(async () => {
    acme = await startUpstream((request, res) => json(res, 200, { target: request.target }));
    server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(KEYED_ORIGIN) } });
    connector = (await createProvider(server, { display_name: 'Acme CRM' })).identifier;
  });
  after(async () => {
    await server.stop();
    await acme.stop();
  });

  describe('201', () => {
    it('returns the tool as callers see it, with its definition', async () => {
      const body = toolBody(connector, 'acme_crm_get_deal');
      const answer = await create(body);
      expect(answer.status, answer.text).to.equal(201);
      const { connector: _connector, ...definition } = body;
      expect(answer.body.definition).to.deep.equal(definition);
      expect(answer.body.tool).to.deep.include({ name: body['name'], connector, source: 'custom', paginated: false });
      const { examples } = definition;
      expect((await server.call('GET', `${PATH}/acme_crm_get_deal`)).body).to.deep.equal({ ...answer.body, examples });
      expect((await auditOf(server, 'acme_crm_get_deal')).map(({ action }) => action)).to.deep.equal(['tool.created']);
    });

    it('creates a tool that can be executed immediately', async () => {
      const { id, provider } = await createKeyedAccount(server, { path: '/v2' });
      const name = `${provider.identifier.replaceAll('-', '_')}_get_thing`;
      expect((await create(toolBody(provider.identifier, name))).status).to.equal(201);
      const answer = await execute(server, id, name, { number: 7 });
      expect(answer.body.data, answer.text).to.deep.equal({ target: '/v2/things/7' });
    });

    it('creates a tool that is found by its search words, which lists do not contain', async () => {
      const name = 'acme_crm_get_refund';
      const description = 'Reads what was returned for an order, by its number. Changes nothing.';
      const body = toolBody(connector, name, { description, search_words: 'reimbursement xylophone' });
      const answer = await create(body);
      expect(answer.body.definition.search_words, answer.text).to.equal('reimbursement xylophone');
      expect(answer.body.tool).not.to.have.property('search_words');
      const found = await server.call('GET', `${PATH}?query=${encodeURIComponent('xylophone')}`);
      expect(found.body.tools.map((tool: { name: string }) => tool.name)).to.deep.equal([name]);
      expect(found.text).not.to.include('xylophone');
    });

    it('accepts a tool for a built-in connector, with its scopes', async () => {
      const body = toolBody('github', 'github_get_own_thing', { scopes: [['repo']] });
      expect((await create(body)).status).to.equal(201);
    });

    it('accepts a tool for a provider that has no address yet', async () => {
      const { identifier } = await createProvider(server, { display_name: 'Nowhere' });
      expect((await create(toolBody(identifier, 'nowhere_get_thing'))).status).to.equal(201);
    });
  });

  describe('400', () => {
    const violations: [string, (body: Breakable) => void, string, string][] = [
      ['a name of another connector', (b) => Object.assign(b, { name: 'slack_get_thing' }), 'name', 'acme_crm_'],
      ['a template without its input', (b) => Object.assign(b.request, { path: '/{id}' }), 'request', 'use id'],
      [
        'an input that nothing takes',
        (b) => Object.assign(b.input_schema.properties, { idle: { type: 'string', description: 'x' } }),
        'input_schema.properties.idle',
        'no template',
      ],
      [
        'an open object',
        (b) => Object.assign(b.input_schema.properties.number, { type: 'object' }),
        'input_schema.properties.number',
        'additionalProperties',
      ],
      [
        'a schema that is open at its top',
        (b) => Object.assign(b.input_schema, { additionalProperties: true }),
        'input_schema.additionalProperties',
        'constant',
      ],
      [
        'an unknown member of the request',
        (b) => Object.assign(b.request, { url: 'x' }),
        'request.url',
        'unknown field',
      ],
      [
        'an unknown method',
        (b) => Object.assign(b.request, { method: 'BREW' }),
        'request.method',
        'must be one of GET',
      ],
      [
        'an unknown directive',
        (b) => Object.assign(b.request, { query: { a: { $eval: '1' } } }),
        'request.query.a',
        '$eval is not a directive',
      ],
      [
        'a header that says who calls',
        (b) => Object.assign(b.request, { headers: { Cookie: 'a' } }),
        'request.headers.Cookie',
        'must not be set',
      ],
      ['a GET that writes', (b) => Object.assign(b.hints, { read_only: false }), 'hints', 'GET must be read_only'],
      [
        'a scope that the connector lacks',
        (b) => Object.assign(b, { scopes: [['all']] }),
        'scopes[0]',
        'available_scopes',
      ],
      [
        'an example that gives no request',
        (b) => Object.assign(b.examples[0], { input: { number: 0 } }),
        'examples[0].input',
        'tool_input.number',
      ],
      [
        'a schema elsewhere',
        (b) => Object.assign(b, { output_schema: { $ref: 'https://example.com/schema' } }),
        'output_schema',
        'another document',
      ],
      ...[{ required: ['number'] }, 'number', 5, null].map((required): (typeof violations)[0] => [
        `required names that are ${JSON.stringify(required)} instead of a list`,
        (b) => Object.assign(b.input_schema, { required }),
        'input_schema',
        'must be array',
      ]),
      [
        'a schema with a name, which others would see',
        (b) => Object.assign(b.input_schema, { $id: 'urn:mine' }),
        'input_schema',
        '$id',
      ],
      [
        'a schema that is too large for lists (H5)',
        (b) => Object.assign(b.input_schema, { description: 'x'.repeat(66_000) }),
        'input_schema',
        'must have at most 65536 bytes',
      ],
      [
        'a name of a schema that is not a text',
        (b) => Object.assign(b.input_schema, { $id: 5 }),
        'input_schema',
        'must not use $id',
      ],
      [
        'a schema whose validator would return a promise, which counts as valid and ends the process when it is rejected (H5)',
        (b) => Object.assign(b.input_schema, { $async: true }),
        'input_schema',
        'must not use $async',
      ],
      [
        'a result whose validator would return a promise (H5)',
        (b) => Object.assign(b, { output_schema: { type: 'object', properties: { a: { $async: true } } } }),
        'output_schema.properties.a',
        'must not use $async',
      ],
      [
        'an anchor that is not a name',
        (b) => Object.assign(b.input_schema, { $anchor: '1 2' }),
        'input_schema',
        '$anchor must match pattern',
      ],
      [
        'two kilobytes that expand to a million subschemas (H5)',
        (b) =>
          Object.assign(b.input_schema, { $defs: doubling(20) }) &&
          Object.assign(b.input_schema.properties.number, { $ref: '#/$defs/d0' }),
        'input_schema.$defs.d7',
        'expands to more than 20000 subschemas',
      ],
      [
        'a result that refers to itself for ever (H5)',
        (b) => Object.assign(b, { output_schema: { type: 'object', properties: { a: { $ref: '#/properties/a' } } } }),
        'output_schema.properties.a',
        'leads back to itself',
      ],
      [
        'a pattern whose time nothing bounds',
        (b) =>
          Object.assign(b.input_schema.properties, {
            number: { type: 'string', pattern: '^(a+)\\1$', description: 'x' },
          }) && Object.assign(b.examples[0], { input: { number: 'aa' } }),
        'input_schema.properties.number.pattern',
        '',
      ],
      [
        'such a pattern in what it answers',
        (b) => Object.assign(b, { output_schema: { type: 'string', pattern: '(?=a)b' } }),
        'output_schema.pattern',
        'lookaround',
      ],
    ];
    for (const [what, change, field, message] of violations) {
      it(`INVALID_TOOL for ${what}`, async () => {
        const body = structuredClone(toolBody(connector, 'acme_crm_get_broken'));
        change(body);
        const answer = await create(body);
        expect(answer.body, answer.text).to.include({ status: 400, code: 'INVALID_TOOL' });
        const found = answer.body.errors.find((error: { field: string }) => error.field === field);
        expect(found?.message, answer.text).to.include(message);
        expect((await server.call('GET', `${PATH}/acme_crm_get_broken`)).status).to.equal(404);
      });
    }

    const stepTo = (...hosts: string[]): ToolRequest => ({
      method: 'GET',
      path: '/things/{number}',
      steps: [{ take: { address: '/address' }, method: 'POST', address: 'address', hosts }],
    });

    it('INVALID_TOOL for a step that sends data to a host that a custom provider cannot name', async () => {
      const description = 'Reads a thing and sends it to another host. Changes nothing at the provider.';
      const request = stepTo('collector.example');
      const answer = await create(toolBody(connector, 'acme_crm_get_sent', { description, request }));
      expect(answer.body).to.include({ status: 400, code: 'INVALID_TOOL' });
      const message = "collector.example is not in the provider's transfer_hosts (it has none)";
      expect(answer.body.errors).to.deep.equal([{ field: 'request.steps[0].hosts', message }]);
    });

    it('INVALID_TOOL for a step to a host that the connector does not name', async () => {
      for (const host of ['collector.example', 'com.slack', 'slack.com', 'evilfiles.slack.com']) {
        const request = stepTo('eu.files.slack.com', host);
        const answer = await create(toolBody('slack', 'slack_get_sent_thing', { request }));
        const message = `${host} is not in the provider's transfer_hosts (files.slack.com)`;
        expect(answer.body.errors, host).to.deep.equal([{ field: 'request.steps[0].hosts', message }]);
      }
      const answer = await create(toolBody('slack', 'slack_get_sent_thing', { request: stepTo('files.slack.com') }));
      expect(answer.status, answer.text).to.equal(201);
    });

    it('INVALID_TOOL for a description that another tool of the connector has', async () => {
      const description = 'Reads something that two tools claim to read. Changes nothing at all.';
      expect((await create(toolBody(connector, 'acme_crm_get_first', { description }))).status).to.equal(201);
      const answer = await create(toolBody(connector, 'acme_crm_get_second', { description }));
      expect(answer.body.errors).to.deep.equal([
        { field: 'description', message: 'is the same as that of acme_crm_get_first' },
      ]);
    });

    it('UNKNOWN_CONNECTOR, also for the key of a connection', async () => {
      const answer = await create(toolBody('nothing', 'nothing_get_thing'));
      expect(answer.body).to.include({ status: 400, code: 'UNKNOWN_CONNECTOR' });
    });

    for (const [what, over, field] of [
      ['a short description', { description: 'Reads.' }, 'description'],
      ['a name in capitals', { name: 'Acme_Get' }, 'name'],
      ['an unknown member', { url: 'https://example.com' }, 'url'],
      ['no request', { request: undefined }, 'request'],
      ['hints of another kind', { hints: { read_only: 'yes' } }, 'hints.read_only'],
    ] as const) {
      it(`VALIDATION_FAILED for ${what}`, async () => {
        const answer = await create({ ...toolBody(connector, 'acme_crm_get_thing'), ...over });
        expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(answer.body.errors.map((error: { field: string }) => error.field)).to.include(field);
      });
    }
  });

  describe('409', () => {
    it('TOOL_EXISTS for a name that exists, in the environment or in the catalogue', async () => {
      await create(
        toolBody(connector, 'acme_crm_get_taken', { description: 'Reads what was taken first, by its number alone.' }),
      );
      const again = await create(toolBody(connector, 'acme_crm_get_taken'));
      expect(again.body).to.include({ status: 409, code: 'TOOL_EXISTS' });
      const shadow = await create(toolBody('github', 'github_create_issue'));
      expect(shadow.body).to.include({ status: 409, code: 'TOOL_EXISTS' });
    });
  });
});
