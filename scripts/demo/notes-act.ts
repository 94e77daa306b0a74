import type { Api } from './api.ts';
import type { Narrator } from './narrator.ts';
import { check } from './narrator.ts';

/** The base URL of the provider; the server has an override to the local application. */
export const NOTES_BASE = 'https://notes.example.com';

export const NOTES_PATTERN = {
  type: 'API_KEY',
  display_name: 'API key',
  auth_header_key_override: 'X-Api-Key',
  fields: [{ field_name: 'api_key', label: 'API key', input_type: 'password', required: true }],
};

interface Stage {
  api: Api;
  narrator: Narrator;
  notes: { origin: string; key: string };
  /** Runs an operator command while the server is running, and returns its output. */
  operate(...args: string[]): Promise<string>;
}

/** A custom provider, an account, and tool calls with its stored key. */
export async function playNotes({ api, narrator, notes, operate }: Stage): Promise<void> {
  const { step, say } = narrator;

  await step('Negative control: the application refuses a call without its key', async () => {
    const { status } = await fetch(`${notes.origin}/notes`);
    say(`GET ${notes.origin}/notes → ${status}`);
    check(status === 401, 'the application returns 401');
  });

  const provider = await step(
    'Describe the application as a custom provider: where it is, how it authenticates',
    async () => {
      const created = await api.call(201, 'POST', '/api/v1/custom-providers', {
        display_name: 'Notes',
        auth_patterns: [NOTES_PATTERN],
        proxy_enabled: true,
        proxy_url: NOTES_BASE,
      });
      say(`  its identifier is ${created.body.provider.identifier}`);
      return created.body.provider.identifier as string;
    },
  );

  const id = await step('Connect an account, with a key that is wrong', async () => {
    const details = { static_auth: { details: { api_key: 'notes_wrong' } } };
    const created = await api.call(201, 'POST', '/api/v1/connected_accounts', {
      connector: provider,
      user_id: 'ada',
      identifier: 'ada@notes',
      connected_account: { authorization_details: details },
    });
    return created.body.connected_account.id as string;
  });

  await step('Negative control: with the wrong key the tool call fails, and says why', async () => {
    const { body } = await api.execute(502, id, 'http_get', { path: '/notes' });
    check(body.tool_error.kind === 'upstream_auth', 'the kind of the failure is upstream_auth');
  });

  await step('Replace the key by the right one', async () => {
    const details = { static_auth: { details: { api_key: notes.key } } };
    await api.call(200, 'PUT', '/api/v1/connected_accounts', {
      id,
      connected_account: { authorization_details: details },
    });
  });

  await step('The same tool call goes out with the stored key, and comes back', async () => {
    const { body } = await api.execute(200, id, 'http_get', { path: '/notes' });
    check(body.data[0].text === 'Water the plants', 'the data is the application’s');
  });

  await step('A dry run shows the exact request, its secret masked, and sends nothing', async () => {
    const input = { path: '/notes', body: { text: 'Never sent' } };
    const { body } = await api.execute(200, id, 'http_post', input, { dry_run: true });
    check(body.dry_run_request.headers['x-api-key'] === '[secret]', 'the key is masked');
  });

  await step('A call that is sent twice with one Idempotency-Key acts once', async () => {
    const input = { path: '/notes', body: { text: 'Buy coffee' } };
    const once = { headers: { 'idempotency-key': 'coffee-1' } };
    const first = await api.execute(200, id, 'http_post', input, once);
    const second = await api.execute(200, id, 'http_post', input, once);
    check(second.headers.get('idempotency-replayed') === 'true', 'the second response is a replay');
    check(second.body.execution_id === first.body.execution_id, 'both name the same execution');
    const { body } = await api.execute(200, id, 'http_get', { path: '/notes' });
    check(body.data.length === 2, 'the application holds one new note');
  });

  await step('A refusal comes back as an outcome: what kind, whether to retry, what the application said', async () => {
    const { body } = await api.execute(502, id, 'http_post', { path: '/notes', body: { text: '' } });
    check(body.tool_error.kind === 'upstream_bad_request', 'the kind is upstream_bad_request');
    check(body.tool_error.retryable === false, 'trying again does not help');
  });

  await step('Get the account without its key', async () => {
    const { body } = await api.call(200, 'GET', `/api/v1/connected_accounts/details?id=${id}`);
    const { status, last_used_at, authorization_details } = body.connected_account;
    say(`  ${JSON.stringify({ status, last_used_at, authorization_details })}`);
    check(!JSON.stringify(body).includes(notes.key), 'the response does not contain the key');
  });

  await step('Rotate the key-encryption key while the server runs; the stored key still opens', async () => {
    for (const line of (await operate('keys', 'rotate')).trim().split('\n')) say(line);
    await api.execute(200, id, 'http_get', { path: '/notes/1' });
  });

  await step('Delete the account: from now on the response is the same as for an unknown account', async () => {
    await api.call(200, 'POST', '/api/v1/connected_accounts:delete', { id });
    await api.execute(404, id, 'http_get', { path: '/notes' });
  });
}
