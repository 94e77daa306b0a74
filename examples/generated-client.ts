import createClient from 'openapi-fetch';
import type { components, paths } from '../generated/api.d.ts';

/**
 * Shows typical calls with a client that is generated from the contract: paths, bodies, responses and errors are typed,
 * and calls that the contract does not define do not compile. It needs a running server and the notes app of the
 * quickstart.
 */

const NOTES = process.env['NOTES_URL'] ?? 'http://127.0.0.1:9900';
const NOTES_KEY = process.env['NOTES_API_KEY'] ?? 'notes-demo-key-1234';

type Problem = components['schemas']['Problem'];

const client = createClient<paths>({ baseUrl: process.env['VALETKEY_URL'] ?? 'http://localhost:8080' });

const token = await getToken();
client.use({
  onRequest({ request }) {
    request.headers.set('Authorization', `Bearer ${token}`);
    return request;
  },
});

const accountId = await connectAccount();
try {
  console.log('notes:', await readNotes(accountId));
  console.log('added:', await addNote(accountId, 'Buy coffee'));
  // The app rejects a note without text. The error is returned as a value that says what to do.
  console.log('refused:', await addNote(accountId, ''));
} finally {
  await client.POST('/api/v1/connected_accounts:delete', { body: { id: accountId } });
}

async function getToken(): Promise<string> {
  const { data, error } = await client.POST('/oauth/token', {
    body: {
      grant_type: 'client_credentials',
      client_id: process.env['VALETKEY_CLIENT_ID'] ?? '',
      client_secret: process.env['VALETKEY_CLIENT_SECRET'] ?? '',
    },
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  });
  // The token endpoint returns OAuth errors (RFC 6749) instead of problem documents.
  if (error) throw new Error(`no token: ${error.error} (${error.error_description})`);
  return data.access_token;
}

/** Stores the key of the notes app for one user; an existing account is used unchanged. */
async function connectAccount(): Promise<string> {
  const name = { connector: 'http', user_id: 'generated-client', identifier: 'notes' };
  const created = await client.POST('/api/v1/connected_accounts', {
    body: {
      ...name,
      connected_account: {
        api_config: { base_url: NOTES },
        authorization_details: { static_auth: { details: { api_key: NOTES_KEY } } },
      },
    },
  });
  if (created.data) return created.data.connected_account.id;
  if (created.error.code !== 'ACCOUNT_EXISTS') throw failure(created.error);
  const known = await client.GET('/api/v1/connected_accounts/details', { params: { query: name } });
  if (known.error) throw failure(known.error);
  return known.data.connected_account.id;
}

async function readNotes(id: string): Promise<unknown> {
  const { data, error } = await client.POST('/api/v1/execute_tool', {
    body: { connected_account_id: id, tool_name: 'http_get', tool_input: { path: '/notes' }, dry_run: false },
  });
  if (error) throw failure(error);
  return data.data;
}

async function addNote(id: string, text: string): Promise<unknown> {
  const { data, error } = await client.POST('/api/v1/execute_tool', {
    params: { header: { 'Idempotency-Key': crypto.randomUUID() } },
    body: {
      connected_account_id: id,
      tool_name: 'http_post',
      tool_input: { path: '/notes', body: { text } },
      dry_run: false,
    },
  });
  if (data) return data.data;
  // The members of a problem show its kind: the provider rejected the call, or the account must be connected again.
  if ('tool_error' in error && error.tool_error) {
    const { kind, upstream_status, upstream_body, retryable } = error.tool_error;
    return { kind, upstream_status, upstream_body, retryable };
  }
  if ('next_action' in error && error.next_action)
    throw new Error(`first ${error.next_action.type}: ${error.next_action.message}`);
  throw failure(error);
}

function failure({ code, detail, errors = [] }: Problem): Error {
  return new Error([`${code}: ${detail}`, ...errors.map(({ field, message }) => `${field} ${message}`)].join('\n  '));
}
