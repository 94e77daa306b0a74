import { expect } from 'chai';
import { STORED } from '../../core/budgets.ts';
import { createAccount } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { API_KEY_PATTERN, createConnection, createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { CLIENT_ID, startTestServer } from '../support/server.ts';
import { firstEnvironment } from '../support/tokens.ts';

const PATH = '/api/v1/custom-providers';

describe('createCustomProvider', () => {
  let server: TestServer;

  const create = (fields: Record<string, unknown>, headers: Record<string, string> = {}) =>
    server.call('POST', PATH, { body: { display_name: 'Acme', auth_patterns: [API_KEY_PATTERN], ...fields }, headers });

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  describe('201', () => {
    it('returns the given values and the added ones', async () => {
      const given = {
        display_name: 'Acme CRM',
        description: 'Customers of Acme',
        icon_src: 'https://acme.example/icon.svg',
        metadata: { team: 'sales', tier: 'gold' },
        proxy_enabled: true,
        proxy_url: 'https://api.acme.example/v1',
        auth_patterns: [API_KEY_PATTERN],
      };
      const answer = await create(given);
      expect(answer.status, answer.text).to.equal(201);
      const { id, ...provider } = answer.body.provider;
      expect(id).to.match(/^prv_[0-9a-hjkmnp-tv-z]{26}$/);
      expect(provider).to.deep.equal({
        ...given,
        identifier: 'acme-crm',
        categories: [],
        coming_soon: false,
        display_priority: 0,
        is_custom: true,
        is_custom_mcp: false,
      });
    });

    it('fills in omitted fields', async () => {
      const answer = await create({ display_name: 'Bare' });
      expect(answer.body.provider).to.deep.include({
        description: '',
        icon_src: '',
        metadata: {},
        proxy_enabled: false,
        proxy_url: '',
      });
    });

    for (const [name, identifier] of [
      ['Blåbär & Söhne', 'blabar-sohne'],
      ['  --Dashes--  ', 'dashes'],
      ['日本語', 'provider'],
      ['x'.repeat(200), 'x'.repeat(80)],
      [`${'x'.repeat(79)} yes`, 'x'.repeat(79)],
      ['GitHub', 'github-2'],
    ] as const) {
      it(`derives an identifier from ${name.slice(0, 20)}`, async () => {
        expect((await create({ display_name: name })).body.provider.identifier).to.equal(identifier);
      });
    }

    it('adds a number when the identifier exists', async () => {
      const identifiers = [];
      for (let made = 0; made < 3; made++)
        identifiers.push((await createProvider(server, { display_name: 'Twin' })).identifier);
      expect(identifiers).to.deep.equal(['twin', 'twin-2', 'twin-3']);
    });

    it('never adopts the connections of a deleted provider of the same name', async () => {
      const first = await createProvider(server, { display_name: 'Phoenix' });
      const details = { static_auth: { details: { api_key: 'of-the-first' } } };
      await createAccount(server, {
        connector: first.identifier,
        connectedAccount: { authorization_details: details },
      });
      await server.call('DELETE', `${PATH}/${first.identifier}`);
      expect((await createProvider(server, { display_name: 'Phoenix' })).identifier).to.equal('phoenix-2');
    });

    it('can be used as a connector even when a connection already has the name', async () => {
      await createConnection(server, { connector: 'github', key_id: 'desk' });
      expect((await createProvider(server, { display_name: 'Desk' })).identifier).to.equal('desk-2');
    });

    it('marks a provider that speaks MCP', async () => {
      const mcp = { auth_patterns: [{ type: 'NO_AUTH', is_mcp: true }], proxy_url: 'https://mcp.acme.example/mcp' };
      expect((await create(mcp)).body.provider.is_custom_mcp).to.equal(true);
    });

    it('returns the first response again for a known idempotency key', async () => {
      const headers = { 'idempotency-key': 'provider-1' };
      const first = await create({ display_name: 'Once' }, headers);
      const second = await create({ display_name: 'Once' }, headers);
      expect(second.body).to.deep.equal(first.body);
      expect(second.headers['idempotency-replayed']).to.equal('true');
    });

    it('is in the audit log', async () => {
      const { id } = await createProvider(server);
      const [row] = await auditOf(server, id);
      expect(row).to.include({ action: 'custom_provider.created', actor: CLIENT_ID });
    });
  });

  describe('limits of the metadata (P8)', () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`key-${i}`, 'v']));
    const cases: [string, Record<string, unknown>, number][] = [
      ['a key of 2 characters', { ab: 'v' }, 400],
      ['a key of 3 characters', { abc: 'v' }, 201],
      ['a key of 25 characters', { ['k'.repeat(25)]: 'v' }, 201],
      ['a key of 26 characters', { ['k'.repeat(26)]: 'v' }, 400],
      ['a key of 25 characters outside the basic plane', { ['😀'.repeat(25)]: 'v' }, 201],
      ['an empty value', { key: '' }, 400],
      ['a value of 1 character', { key: 'v' }, 201],
      ['a value of 256 characters', { key: 'v'.repeat(256) }, 201],
      ['a value of 256 characters outside the basic plane', { key: '😀'.repeat(256) }, 201],
      ['a value of 257 characters', { key: 'v'.repeat(257) }, 400],
      ['20 pairs', many(20), 201],
      ['21 pairs', many(21), 400],
      ['a number as value', { key: 1 }, 400],
      ['null as value', { key: null }, 400],
    ];
    for (const [what, metadata, status] of cases) {
      it(`${status === 201 ? 'accepts' : 'refuses'} ${what}`, async () => {
        const answer = await create({ metadata });
        expect(answer.status, answer.text).to.equal(status);
        if (status === 201) expect(answer.body.provider.metadata).to.deep.equal(metadata);
        else expect(answer.body.errors[0].field).to.match(/^metadata/);
      });
    }
  });

  describe('addresses (P1, P4, P8)', () => {
    for (const address of [
      'http://api.acme.example',
      'HTTP://api.acme.example',
      'ftp://api.acme.example',
      'https:/api.acme.example',
      'api.acme.example',
      'https://',
      'https://user:password@api.acme.example',
      'https://api.acme.example:8443',
      'https://api.acme.example/a b',
      'https://localhost/',
      'https://127.0.0.1/',
      'https://2130706433/',
      'https://0x7f.1/',
      'https://[::1]/',
      'https://10.0.0.1/',
      'https://169.254.169.254/latest/meta-data',
      'https://[::ffff:169.254.169.254]/',
      'https://[fd00:ec2::254]/',
      'https://{{unknown}}.acme.example/',
      'https://api.acme.example/?key=1',
      'https://api.acme.example/#part',
      `https://api.acme.example/${'a'.repeat(2048)}`,
    ]) {
      it(`refuses the address ${address.slice(0, 60)}`, async () => {
        const answer = await create({ proxy_enabled: true, proxy_url: address });
        expect(answer.status, answer.text).to.equal(400);
        expect(answer.body.errors.map((e: { field: string }) => e.field)).to.include('proxy_url');
      });
    }

    for (const address of [
      'https://api.acme.example',
      'https://api.acme.example:443/v1/',
      'https://bücher.example/v1',
    ]) {
      it(`accepts ${address}`, async () => {
        const answer = await create({ proxy_enabled: true, proxy_url: address });
        expect(answer.status, answer.text).to.equal(201);
        expect(answer.body.provider.proxy_url).to.equal(address);
      });
    }

    it('accepts an address whose host comes from an account', async () => {
      const field = { field_name: 'domain', label: 'Domain', input_type: 'text', required: true, is_path_param: true };
      const fields = [...API_KEY_PATTERN.fields, field];
      const answer = await create({
        proxy_enabled: true,
        proxy_url: 'https://{{domain}}.acme.example/v1',
        auth_patterns: [{ ...API_KEY_PATTERN, fields }],
      });
      expect(answer.status, answer.text).to.equal(201);
    });

    it('requires an address if the proxy is enabled', async () => {
      const answer = await create({ proxy_enabled: true });
      expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
      expect(answer.body.errors[0].field).to.equal('proxy_url');
    });

    for (const icon of ['http://acme.example/icon.svg', 'data:image/svg+xml,<svg/>', 'javascript:alert(1)']) {
      it(`refuses the icon ${icon}`, async () => {
        expect((await create({ icon_src: icon })).body.errors[0].field).to.equal('icon_src');
      });
    }
  });

  describe('400', () => {
    describe('F6: when the environment has no space, because lists read all providers', () => {
      const fillers: string[] = [];
      const fill = async (description: string, count: number) => {
        const { id: environment } = await firstEnvironment(server);
        await server.parts.store.write(async (tx) => {
          for (let index = 0; index < count; index++) {
            const identifier = `filler-${fillers.length}`;
            const definition = { display_name: identifier, description, auth_patterns: [] };
            const row = { id: `prv_${identifier}`, identifier, definition, isMcp: false, createdAt: 0, updatedAt: 0 };
            await tx.customProviders.insert(environment, row);
            fillers.push(identifier);
          }
        });
      };
      afterEach(async () => {
        const { id: environment } = await firstEnvironment(server);
        const gone = fillers.splice(0);
        await server.parts.store.write(async (tx) => {
          for (const identifier of gone) await tx.customProviders.delete(environment, identifier);
        });
      });

      it('because of the size of their definitions', async () => {
        const { identifier } = await createProvider(server, { description: 'x'.repeat(500) });
        await fill('x'.repeat(STORED.providersBytes - 10_000), 1);
        expect((await create({})).status, 'the control').to.equal(201);
        await fill('x'.repeat(10_000), 1);
        const refused = await create({});
        expect(refused.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(refused.body.detail).to.include('reached its limit').and.include('4194304 bytes');
        const change = (description: string) => server.call('PUT', `${PATH}/${identifier}`, { body: { description } });
        expect((await change('x'.repeat(600))).status).to.equal(400);
        expect((await change('x'.repeat(400))).status, 'a smaller one').to.equal(200);
      });

      it('because of their number', async () => {
        await fill('', STORED.providers);
        expect((await create({})).body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
      });
    });

    it('names the missing fields of a body', async () => {
      const answer = await server.call('POST', PATH, { body: {} });
      expect(answer.body.errors.map((e: { field: string }) => e.field).sort()).to.deep.equal([
        'auth_patterns',
        'display_name',
      ]);
    });

    for (const field of [
      'id',
      'identifier',
      'categories',
      'coming_soon',
      'display_priority',
      'is_custom',
      'is_custom_mcp',
    ]) {
      it(`refuses ${field}, which only the server sets (C3)`, async () => {
        const answer = await create({ [field]: true });
        expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(answer.body.errors.map((e: { field: string }) => e.field)).to.include(field);
      });
    }

    for (const [what, patterns, field] of [
      ['no pattern', [], 'auth_patterns'],
      ['thirteen patterns', Array.from({ length: 13 }, () => API_KEY_PATTERN), 'auth_patterns'],
      ['an invented type', [{ type: 'MAGIC' }], 'auth_patterns[0].type'],
      ['a pattern without a type', [{}], 'auth_patterns[0].type'],
      [
        'a type that may not have fields',
        [{ type: 'NO_AUTH', fields: API_KEY_PATTERN.fields }],
        'auth_patterns[0].fields',
      ],
    ] as [string, unknown[], string][]) {
      it(`refuses ${what}`, async () => {
        const answer = await create({ auth_patterns: patterns });
        expect(answer.body.status, answer.text).to.equal(400);
        expect(answer.body.errors.map((e: { field: string }) => e.field)).to.include(field);
      });
    }

    for (const [what, pattern, field] of [
      [
        'a pattern that backtracks (P9)',
        { fields: [{ ...API_KEY_PATTERN.fields[0], pattern: '(a+)+$' }] },
        'fields[0].pattern',
      ],
      ['a header that frames the request (E2)', { auth_header_key_override: 'Host' }, 'auth_header_key_override'],
      [
        'a header that frames the body (E2)',
        { auth_header_key_override: 'Content-Length' },
        'auth_header_key_override',
      ],
      ['MCP without an address', { is_mcp: true }, 'is_mcp'],
      ['a change of no field', { auth_field_mutations: { nothing: { prefix: 'x' } } }, 'auth_field_mutations.nothing'],
    ] as [string, Record<string, unknown>, string][]) {
      it(`refuses ${what}`, async () => {
        const answer = await create({ auth_patterns: [{ ...API_KEY_PATTERN, ...pattern }] });
        expect(answer.body).to.include({ status: 400, code: 'INVALID_AUTH_PATTERN' });
        expect(answer.body.errors.map((e: { field: string }) => e.field)).to.include(`auth_patterns[0].${field}`);
      });
    }

    it('refuses two patterns of one type', async () => {
      const answer = await create({ auth_patterns: [API_KEY_PATTERN, API_KEY_PATTERN] });
      expect(answer.body.code).to.equal('INVALID_AUTH_PATTERN');
      expect(answer.body.errors[0].field).to.equal('auth_patterns[1].type');
    });
  });
});
