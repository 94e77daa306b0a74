import { expect } from 'chai';
import { createAccount, unknownId } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { createConnection } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { CLIENT_ID, startTestServer } from '../support/server.ts';

const PATH = '/api/v1/connections';

describe('updateConnection', () => {
  let server: TestServer;

  const update = (id: string, body: unknown) => server.call('PUT', `${PATH}/${id}`, { body });

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  describe('200', () => {
    it('changes the given fields and keeps the rest', async () => {
      const before = await createConnection(server, {
        organization_id: 'org_a',
        scopes: ['repo'],
        client_id: 'id',
        send_trace_context: true,
      });
      expect((await createConnection(server)).send_trace_context).to.equal(false);
      const answer = await update(before.id, { organization_name: 'Acme', scopes: ['read:user'] });
      expect(answer.status, answer.text).to.equal(200);
      const { updated_at: updatedAt, ...rest } = answer.body.connection;
      expect(rest).to.deep.equal({
        ...Object.fromEntries(Object.entries(before).filter(([key]) => key !== 'updated_at')),
        organization_name: 'Acme',
        scopes: ['read:user'],
      });
      expect(Date.parse(updatedAt)).to.be.at.least(Date.parse(before.updated_at));
    });

    it('clears fields that are null', async () => {
      const { id } = await createConnection(server, {
        organization_id: 'org_a',
        organization_name: 'Acme',
        domains: ['acme.test'],
        client_id: 'id',
        client_secret: 'secret',
        scopes: ['repo'],
        allowed_tools: [],
        verification_mode: 'NONE',
        post_user_verify_redirect_url: 'https://acme.test/done',
      });
      const nothing = {
        organization_id: null,
        organization_name: null,
        domains: null,
        client_id: null,
        client_secret: null,
        scopes: null,
        allowed_tools: null,
        verification_mode: null,
        post_user_verify_redirect_url: null,
      };
      const answer = await update(id, nothing);
      expect(answer.body.connection).to.deep.include({
        organization_id: '',
        organization_name: '',
        domains: [],
        client_id: '',
        has_client_secret: false,
        scopes: [],
        allowed_tools: null,
        verification_mode: 'REQUIRED',
        post_user_verify_redirect_url: '',
        status: 'DRAFT',
        missing_settings: ['client_id', 'client_secret'],
      });
    });

    it('updates the status with the settings, from draft to complete and back', async () => {
      const { id } = await createConnection(server);
      const complete = await update(id, { client_id: 'id', client_secret: 'secret' });
      expect(complete.body.connection).to.deep.include({ status: 'IN_PROGRESS', missing_settings: [] });
      const lacking = await update(id, { client_secret: null });
      expect(lacking.body.connection).to.deep.include({ status: 'DRAFT', missing_settings: ['client_secret'] });
    });

    it('is complete as soon as nothing is missing when an account is already active', async () => {
      const draft = await createConnection(server);
      await createAccount(server, {
        connector: draft.key_id,
        connectedAccount: { authorization_details: { oauth_token: { access_token: 'gho_imported' } } },
      });
      const answer = await update(draft.id, { client_id: 'id', client_secret: 'secret' });
      expect(answer.body.connection.status).to.equal('COMPLETED');
    });

    it('changes nothing for an empty body', async () => {
      const before = await createConnection(server, { allowed_tools: ['github_get_issue'] });
      const answer = await update(before.id, {});
      expect(answer.body.connection).to.deep.equal({ ...before, updated_at: answer.body.connection.updated_at });
    });

    it('writes the names of the changed settings into the audit log, never their values', async () => {
      const { id } = await createConnection(server);
      await update(id, { client_id: 'id', client_secret: 'a-secret-value' });
      const [row] = await auditOf(server, id);
      expect(row).to.include({ action: 'connection.updated', actor: CLIENT_ID });
      expect(row?.details).to.deep.equal({ fields: ['client_id', 'client_secret'] });
    });
  });

  describe('400', () => {
    for (const [what, body, field] of [
      ['a tool of another connector', { allowed_tools: ['slack_send_message'] }, 'allowed_tools[0]'],
      [
        'a redirect without https',
        { post_user_verify_redirect_url: 'http://acme.test/' },
        'post_user_verify_redirect_url',
      ],
      ['another name', { key_id: 'new-name' }, 'key_id'],
      ['another provider', { connector: 'slack' }, 'connector'],
      ['another type', { type: 'BEARER_TOKEN' }, 'type'],
      ['a state', { status: 'COMPLETED' }, 'status'],
      ['an `enabled` of null', { enabled: null }, 'enabled'],
      ['a `send_trace_context` that is a text', { send_trace_context: 'true' }, 'send_trace_context'],
    ] as [string, Record<string, unknown>, string][]) {
      it(`refuses ${what} and changes nothing`, async () => {
        const before = await createConnection(server);
        const answer = await update(before.id, { organization_name: 'Changed', ...body });
        expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(answer.body.errors.map((e: { field: string }) => e.field)).to.include(field);
        const after = await server.call('GET', `${PATH}/${before.id}`);
        expect(after.body.connection).to.deep.equal(before);
      });
    }
  });

  describe('404', () => {
    it('rejects an unknown id', async () => {
      const answer = await update(unknownId('conn'), { organization_name: 'Acme' });
      expect(answer.body).to.include({ status: 404, code: 'NOT_FOUND' });
    });
  });

  it('keeps each of fifty concurrent changes', async () => {
    const { id } = await createConnection(server);
    const fields = ['organization_id', 'organization_name', 'client_id', 'post_user_verify_redirect_url'];
    const changes = Array.from({ length: 48 }, (_, index) => {
      const field = fields[index % fields.length] as string;
      return { [field]: field.endsWith('url') ? `https://acme.test/${index}` : `value ${index}` };
    });
    const answers = await Promise.all(changes.map((change) => update(id, change)));
    expect(new Set(answers.map((answer) => answer.status))).to.deep.equal(new Set([200]));
    const { connection } = (await server.call('GET', `${PATH}/${id}`)).body;
    for (const field of fields) {
      const sent = changes.filter((change) => field in change).map((change) => change[field]);
      expect(sent).to.include(connection[field]);
    }
  });
});
