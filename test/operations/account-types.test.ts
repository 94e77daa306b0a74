import { expect } from 'chai';
import { sealCredentials } from '../../core/accounts/credentials.ts';
import { authorizationTypes } from '../../core/authorization/registry.ts';
import type { AccountRow } from '../../db/store.ts';
import { createConnector, createTypedAccount, SAMPLES, TYPES } from '../support/all-types.ts';
import type { TestResponse, TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { firstEnvironment } from '../support/tokens.ts';

const ACCOUNTS = '/api/v1/connected_accounts';

describe('accounts of every authorization type', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const update = (id: string, authorization_details: unknown, token?: string): Promise<TestResponse> =>
    server.call('PUT', ACCOUNTS, {
      body: { id, connected_account: { authorization_details } },
      ...(token && { token }),
    });
  const auth = async (id: string) => (await server.call('GET', `${ACCOUNTS}/auth?id=${id}`)).body.connected_account;
  const details = (id: string) => server.call('GET', `${ACCOUNTS}/details?id=${id}`);

  it('exist for twelve types', () => {
    expect(TYPES).to.have.members([...authorizationTypes()]);
  });

  for (const type of TYPES) {
    const sample = SAMPLES[type];

    describe(type, () => {
      let id: string;
      let created: TestResponse;

      before(async () => {
        created = await createTypedAccount(server, type);
        expect(created.status, created.text).to.equal(201);
        id = created.body.connected_account.id;
      });

      it('are created ACTIVE with usable credentials, and returned in full', () => {
        const account = created.body.connected_account;
        expect(account).to.include({ authorization_type: type, status: 'ACTIVE', token_expires_at: null });
        expect(account.authorization_details).to.deep.equal(sample.details ?? {});
      });

      it('are read in full by auth', async () => {
        expect(await auth(id)).to.deep.equal(created.body.connected_account);
      });

      it('are masked by details, field by field', async () => {
        const answer = await details(id);
        expect(answer.body.connected_account.authorization_details).to.deep.equal(sample.shown);
        expect(answer.text).not.to.include('secret-');
      });

      it('are masked the same by create and update for a client that may not read credentials (C4)', async () => {
        const token = server.token('accounts:write', 'accounts:read');
        const updated = await update(id, sample.details ?? {}, token);
        expect(updated.body.connected_account.authorization_details).to.deep.equal(sample.shown);
        const other = { connector: created.body.connected_account.connector, identifier: 'other', user_id: 'u' };
        const body = { ...other, connected_account: { authorization_details: sample.details ?? {} } };
        const second = await server.call('POST', ACCOUNTS, { body, token });
        expect(second.status).to.equal(201);
        expect(second.body.connected_account.authorization_details).to.deep.equal(sample.shown);
        expect(updated.text + second.text).not.to.include('secret-');
      });

      it('are absent from lists', async () => {
        const list = await server.call('GET', ACCOUNTS);
        const search = await server.call('GET', `${ACCOUNTS}:search?query=acme`);
        for (const { text, body } of [list, search]) {
          expect(text).not.to.match(/secret-|authorization_details|api_config/);
          expect(body.total_size).to.be.greaterThan(0);
        }
      });

      it('are PENDING_AUTH without credentials, unless the type has none', async () => {
        for (const [index, input] of [undefined, {}, { authorization_details: {} }].entries()) {
          const connector = created.body.connected_account.connector;
          const body = { connector, identifier: `empty-${index}`, user_id: 'u', connected_account: input };
          const answer = await server.call('POST', ACCOUNTS, { body });
          expect(answer.body.connected_account).to.include({ status: type === 'NO_AUTH' ? 'ACTIVE' : 'PENDING_AUTH' });
          expect(answer.body.connected_account.authorization_details).to.deep.equal({});
        }
      });

      it('refuse credentials of a form that the type does not accept', async () => {
        const forms = {
          oauth_token: { access_token: 'x' },
          workspace_dwd: { subject: 'x' },
          trusted_idp: { db_user: 'x' },
        };
        const [own] = Object.keys(sample.details ?? {});
        for (const [form, value] of Object.entries(forms)) {
          if (form === own || sample.otherForms?.includes(form)) continue;
          const answer = await update(id, { [form]: value });
          expect(answer.body, form).to.include({ status: 400, code: 'INVALID_AUTHORIZATION_DETAILS' });
          expect(answer.body.errors[0].field).to.equal(`connected_account.authorization_details.${form}`);
        }
        expect((await auth(id)).authorization_details).to.deep.equal(sample.details ?? {});
      });
    });
  }

  describe('with tokens', () => {
    it('change only the fields that an update includes; null removes one', async () => {
      const { id } = (await createTypedAccount(server, 'OAUTH')).body.connected_account;
      const before: Record<string, unknown> = SAMPLES.OAUTH.details?.['oauth_token'] ?? {};
      const renewed = await update(id, { oauth_token: { access_token: 'secret-new' } });
      const after = { ...before, access_token: 'secret-new' };
      expect(renewed.body.connected_account.authorization_details).to.deep.equal({ oauth_token: after });
      const { domain: _domain, ...withoutDomain } = after as Record<string, unknown>;
      const cleared = await update(id, { oauth_token: { domain: null, scopes: ['read'] } });
      const wanted = { oauth_token: { ...withoutDomain, scopes: ['read'] } };
      expect(cleared.body.connected_account.authorization_details).to.deep.equal(wanted);
      expect((await auth(id)).authorization_details).to.deep.equal(wanted);
      expect((await details(id)).body.connected_account.authorization_details).to.deep.equal({
        oauth_token: { scopes: ['read'] },
      });
    });

    it('are usable with a refresh token alone, and PENDING_AUTH when an update removes the last token', async () => {
      const connector = await createConnector(server, [SAMPLES.OAUTH.pattern]);
      const tokens = { oauth_token: { refresh_token: 'secret-refresh' } };
      const body = { connector, identifier: 'i', user_id: 'u', connected_account: { authorization_details: tokens } };
      const { connected_account: account } = (await server.call('POST', ACCOUNTS, { body })).body;
      expect(account.status).to.equal('ACTIVE');
      const emptied = await update(account.id, { oauth_token: { refresh_token: null } });
      expect(emptied.body.connected_account.status).to.equal('PENDING_AUTH');
      expect(emptied.body.connected_account.status_reason).not.to.equal('');
      const restored = await update(account.id, { oauth_token: { access_token: 'secret-again' } });
      expect(restored.body.connected_account).to.include({ status: 'ACTIVE', status_reason: '' });
    });

    for (const type of ['OAUTH_M2M', 'BOARD_OAUTH1', 'SMART_FHIR'] as const) {
      it(`of ${type} may be tokens or typed fields, and an update with the other form replaces them`, async () => {
        const fields = SAMPLES.OAUTH_M2M.pattern.fields;
        const connector = await createConnector(server, [{ ...SAMPLES[type].pattern, fields }]);
        const typed = SAMPLES.OAUTH_M2M.details as { static_auth: object };
        const input = { connected_account: { authorization_details: typed } };
        const body = { connector, identifier: 'i', user_id: 'u', ...input };
        const { id } = (await server.call('POST', ACCOUNTS, { body })).body.connected_account;
        expect((await auth(id)).authorization_details).to.deep.equal(typed);
        await update(id, { oauth_token: { access_token: 'secret-token' } });
        expect((await auth(id)).authorization_details).to.deep.equal({ oauth_token: { access_token: 'secret-token' } });
        await update(id, typed);
        expect((await auth(id)).authorization_details).to.deep.equal(typed);
      });
    }
  });

  describe('with typed fields', () => {
    it('change only the fields that an update includes', async () => {
      const { id } = (await createTypedAccount(server, 'CUSTOM')).body.connected_account;
      await update(id, { static_auth: { details: { region: 'us', certificate: null } } });
      expect((await auth(id)).authorization_details).to.deep.equal({
        static_auth: { details: { tenant: 't-1', region: 'us', signing_key: 'secret-signing-key' } },
      });
      await update(id, { static_auth: {} });
      await update(id, { static_auth: { details: {} } });
      expect((await auth(id)).authorization_details.static_auth.details).to.include({ region: 'us', tenant: 't-1' });
    });

    it('name each field that is missing, unknown or invalid', async () => {
      const { id } = (await createTypedAccount(server, 'CUSTOM')).body.connected_account;
      const prefix = 'connected_account.authorization_details.static_auth.details';
      const cases: [Record<string, unknown>, string][] = [
        [{ signing_key: null }, 'signing_key'],
        [{ signing_key: '' }, 'signing_key'],
        [{ no_such_field: 'x' }, 'no_such_field'],
        [{ region: 'mars' }, 'region'],
        [{ tenant: 7 }, 'tenant'],
        [{ tenant: 'a\nb' }, 'tenant'],
        [{ tenant: 'x'.repeat(16_385) }, 'tenant'],
        [JSON.parse('{"__proto__": "x"}'), '__proto__'],
        [{ constructor: 'x' }, 'constructor'],
      ];
      for (const [change, field] of cases) {
        const answer = await update(id, { static_auth: { details: change } });
        expect(answer.body, field).to.include({ status: 400, code: 'INVALID_AUTHORIZATION_DETAILS' });
        expect(answer.body.errors.map((e: { field: string }) => e.field)).to.deep.equal([`${prefix}.${field}`]);
      }
      expect((await auth(id)).authorization_details).to.deep.equal(SAMPLES.CUSTOM.details);
      expect((await update(id, { static_auth: { details: { tenant: 'x'.repeat(16_384) } } })).status).to.equal(200);
    });

    it('are PENDING_AUTH when an update removes the last of them', async () => {
      const { id } = (await createTypedAccount(server, 'API_KEY')).body.connected_account;
      const answer = await update(id, { static_auth: { details: { api_key: null } } });
      expect(answer.body.connected_account.status).to.equal('PENDING_AUTH');
    });

    it('refuse a colon in the user name of Basic, where it would end the user name (RFC 7617 §2)', async () => {
      for (const type of ['BASIC', 'BASIC_AUTH'] as const) {
        const { id } = (await createTypedAccount(server, type)).body.connected_account;
        const answer = await update(id, { static_auth: { details: { username: 'ada:x' } } });
        expect(answer.body.errors[0].field).to.match(/username$/);
      }
    });
  });

  describe('whose temporary credentials the server obtains', () => {
    const DWD = { access_token: 'secret-dwd-token', scopes: ['mail'], token_expires_at: '2026-06-01T13:00:00.000Z' };
    const STS = {
      access_key_id: 'ASIAEXAMPLE',
      expiry: '2026-06-01T13:00:00.000Z',
      secret_access_key: 'secret-access-key',
      session_token: 'secret-session-token',
    };

    /** Stores the credentials that the service would have obtained at the provider. */
    async function obtain(id: string, temporary: Record<string, Record<string, unknown>>): Promise<void> {
      const { store, vault, now } = server.parts;
      const { id: environmentId } = await firstEnvironment(server);
      const row = (await store.read.accounts.get(environmentId, id)) as AccountRow;
      const given = (await auth(id)).authorization_details;
      const place = { ...row, credentialGeneration: row.credentialGeneration + 1 };
      const sealed = sealCredentials(vault, place, given, temporary);
      const changes = { ...sealed, credentialGeneration: place.credentialGeneration, updatedAt: now() };
      await store.write((tx) => tx.accounts.update(environmentId, id, row.version, changes));
    }

    it('WORKSPACE_DWD: are returned next to the subject', async () => {
      const { id } = (await createTypedAccount(server, 'WORKSPACE_DWD')).body.connected_account;
      await obtain(id, { workspace_dwd: DWD });
      const wanted = { workspace_dwd: { subject: 'ada@acme.test', ...DWD } };
      expect((await auth(id)).authorization_details).to.deep.equal(wanted);
      expect((await details(id)).text).not.to.include('secret-');
    });

    it('WORKSPACE_DWD: are deleted when the subject changes', async () => {
      const { id } = (await createTypedAccount(server, 'WORKSPACE_DWD')).body.connected_account;
      await obtain(id, { workspace_dwd: DWD });
      await update(id, { workspace_dwd: { subject: 'grace@acme.test' } });
      const wanted = { workspace_dwd: { subject: 'grace@acme.test' } };
      expect((await auth(id)).authorization_details).to.deep.equal(wanted);
    });

    it('TRUSTED_IDP: the secret key and the session token are never returned, by any operation', async () => {
      const { id } = (await createTypedAccount(server, 'TRUSTED_IDP')).body.connected_account;
      await obtain(id, { trusted_idp: STS });
      const { access_key_id, expiry } = STS;
      const wanted = { trusted_idp: { db_user: 'analyst', access_key_id, expiry } };
      expect((await auth(id)).authorization_details).to.deep.equal(wanted);
      const answers = [
        await server.call('GET', `${ACCOUNTS}/auth?id=${id}`),
        await details(id),
        await server.call('PUT', ACCOUNTS, { body: { id, connected_account: { api_config: { a: 1 } } } }),
        await server.call('GET', ACCOUNTS),
      ];
      for (const { status, text } of answers) {
        expect(status).to.equal(200);
        expect(text).not.to.match(/secret-|secret_access_key|session_token/);
      }
    });

    it('TRUSTED_IDP: are deleted when the database user changes', async () => {
      const { id } = (await createTypedAccount(server, 'TRUSTED_IDP')).body.connected_account;
      await obtain(id, { trusted_idp: STS });
      await update(id, { trusted_idp: { db_user: 'auditor' } });
      expect((await auth(id)).authorization_details).to.deep.equal({ trusted_idp: { db_user: 'auditor' } });
    });

    it('are kept when only the settings of the account change', async () => {
      const { id } = (await createTypedAccount(server, 'WORKSPACE_DWD')).body.connected_account;
      await obtain(id, { workspace_dwd: DWD });
      await server.call('PUT', ACCOUNTS, { body: { id, connected_account: { api_config: { region: 'eu' } } } });
      expect((await auth(id)).authorization_details.workspace_dwd.access_token).to.equal('secret-dwd-token');
    });
  });

  describe('TRUSTED_IDP', () => {
    it('require a database user for a provisioned cluster, and none for a serverless workgroup', async () => {
      const connector = await createConnector(server, [SAMPLES.TRUSTED_IDP.pattern]);
      const create = (identifier: string, api_config: object, trusted_idp: object) =>
        server.call('POST', ACCOUNTS, {
          body: {
            connector,
            identifier,
            user_id: 'u',
            connected_account: { api_config, authorization_details: { trusted_idp } },
          },
        });
      const cluster = await create('cluster', { cluster_identifier: 'c-1' }, {});
      expect(cluster.body).to.include({ status: 400, code: 'INVALID_AUTHORIZATION_DETAILS' });
      expect(cluster.body.errors[0].field).to.equal('connected_account.authorization_details.trusted_idp.db_user');
      const serverless = await create('serverless', { workgroup_name: 'w-1' }, {});
      expect(serverless.body.connected_account.status).to.equal('ACTIVE');
      const named = await create('named', { cluster_identifier: 'c-1' }, { db_user: 'analyst' });
      expect(named.body.connected_account.status).to.equal('ACTIVE');
      const nothing = await create('nothing', {}, {});
      expect(nothing.body.connected_account.status).to.equal('PENDING_AUTH');
    });
  });
});
