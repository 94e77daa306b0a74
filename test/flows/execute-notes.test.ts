import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createNotesApp } from '../../examples/notes-app.ts';
import { createAccount } from '../support/accounts.ts';
import { execute, finishedExecution } from '../support/execute.ts';
import { API_KEY_PATTERN, createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const KEY = 'notes-key-of-ada-0001';
const ORIGIN = 'https://notes.example.com';

/** Calls an application that checks its API key, with the generic HTTP connector and with a custom provider. */
describe('executing tools at a real application', () => {
  let app: Server;
  let server: TestServer;
  let port: number;

  before(async () => {
    app = createNotesApp(KEY);
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
    port = (app.address() as AddressInfo).port;
    server = await startTestServer({
      env: {
        VALETKEY_EGRESS_ALLOW: `127.0.0.1:${port}`,
        VALETKEY_ENDPOINT_OVERRIDES: `${ORIGIN}=http://127.0.0.1:${port}`,
      },
    });
  });
  after(async () => {
    await server.stop();
    app.close();
  });

  const ofHttpConnector = (api_key: string) =>
    createAccount(server, {
      connector: 'http',
      connectedAccount: {
        api_config: { base_url: `http://127.0.0.1:${port}` },
        authorization_details: { static_auth: { details: { api_key } } },
      },
    });
  const ofCustomProvider = async (api_key: string) => {
    const provider = await createProvider(server, {
      display_name: 'Notes',
      proxy_enabled: true,
      proxy_url: ORIGIN,
      auth_patterns: [API_KEY_PATTERN],
    });
    return createAccount(server, {
      connector: provider.identifier,
      connectedAccount: { authorization_details: { static_auth: { details: { api_key } } } },
    });
  };

  for (const [way, accountWith] of [
    ['with the generic HTTP connector', ofHttpConnector],
    ['with a custom provider behind https', ofCustomProvider],
  ] as const) {
    describe(way, () => {
      it('is rejected with an unknown key: the application checks it', async () => {
        const { id } = await accountWith('notes-key-of-nobody');
        const answer = await execute(server, id, 'http_get', { path: '/notes' });
        expect(answer.body).to.include({ status: 502, code: 'TOOL_FAILED' });
        expect(answer.body.tool_error).to.deep.include({
          kind: 'upstream_auth',
          retryable: false,
          upstream_status: 401,
          upstream_body: { error: 'unknown API key' },
        });
        expect(answer.body.next_action).to.include({ type: 'reauthorize', operation_id: 'generateMagicLink' });
        const record = await finishedExecution(server, answer.body.execution_id);
        expect(record).to.include({ status: 'FAILED', error_kind: 'upstream_auth', upstream_status: 401 });
      });

      it('reads, writes and deletes with the stored key', async () => {
        const { id } = await accountWith(KEY);
        const created = await execute(server, id, 'http_post', { path: '/notes', body: { text: `By ${way}` } });
        expect(created.status, created.text).to.equal(200);
        expect(created.body.data).to.deep.include({ text: `By ${way}` });
        const { id: noteId } = created.body.data;
        const list = await execute(server, id, 'http_get', { path: '/notes' });
        expect(list.body.data.map((note: { id: number }) => note.id)).to.include(noteId);
        expect((await execute(server, id, 'http_delete', { path: `/notes/${noteId}` })).status).to.equal(200);
        const gone = await execute(server, id, 'http_get', { path: `/notes/${noteId}` });
        expect(gone.body.tool_error).to.include({ kind: 'upstream_not_found', upstream_status: 404 });
      });

      it("returns the application's message for bad input", async () => {
        const { id } = await accountWith(KEY);
        const answer = await execute(server, id, 'http_post', { path: '/notes', body: {} });
        expect(answer.body.tool_error).to.include({ kind: 'upstream_bad_request', upstream_status: 422 });
        expect(answer.body.tool_error.message).to.include('text is required');
      });

      it('keeps a record that can be found by account, tool, state and run', async () => {
        const { id } = await accountWith(KEY);
        const body = { agent_run_id: `run ${way}` };
        const { execution_id: executionId } = (await execute(server, id, 'http_get', { path: '/notes' }, { body }))
          .body;
        const record = await finishedExecution(server, executionId);
        expect(record).to.include({
          connected_account_id: id,
          tool_name: 'http_get',
          agent_run_id: body.agent_run_id,
          status: 'SUCCEEDED',
          upstream_status: 200,
          error_kind: null,
        });
        const run = encodeURIComponent(body.agent_run_id);
        const list = await server.call(
          'GET',
          `/api/v1/executions?agent_run_id=${run}&status=SUCCEEDED&tool_name=http_get`,
        );
        expect(list.body.executions).to.deep.equal([record]);
      });
    });
  }
});
