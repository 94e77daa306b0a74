import type { ExecutionOutcome } from '../../../db/store.ts';
import { account } from '../../db/support.ts';
import { createAccount } from '../../support/accounts.ts';
import { execute } from '../../support/execute.ts';
import { ownTool, storeTools } from '../../support/own-tools.ts';
import type { TestServer } from '../../support/server.ts';
import type { ConsoleWorld } from './console-world.ts';

const HOUR_MS = 60 * 60 * 1000;
const TOOLS = ['github_get_issue', 'github_list_repos', 'slack_post_message', 'notion_query_data_source'];
const KINDS = ['upstream_rate_limited', 'upstream_timeout', 'upstream_auth', null];

/** A provider on this machine with one tool, and an active account. */
export async function addNotes(
  { server, upstream }: Pick<ConsoleWorld, 'server' | 'upstream'>,
  displayName = 'Acme Notes',
): Promise<string> {
  const provider = {
    display_name: displayName,
    proxy_enabled: true,
    proxy_url: `http://127.0.0.1:${upstream.port}`,
    auth_patterns: [
      {
        type: 'API_KEY',
        fields: [{ field_name: 'api_key', label: 'API key', input_type: 'password', required: true }],
      },
    ],
  };
  const identifier = displayName.toLowerCase().replaceAll(' ', '-');
  const made = await server.call('POST', '/api/v1/custom-providers', { body: provider });
  if (made.status !== 201) throw new Error(made.text);
  await storeTools(server, [
    ownTool(identifier, `${identifier.replaceAll('-', '_')}_get_note`, {
      title: 'Get a note',
      description: 'Returns one note by its number, with its name and state. Changes nothing.',
      request: { method: 'GET', path: '/notes/{number}' },
    }),
  ]);
  const details = { authorization_details: { static_auth: { details: { api_key: 'secret-key-of-ada' } } } };
  const { id } = await createAccount(server, {
    connector: identifier,
    identifier: 'ada@acme.example',
    userId: 'user_ada',
    connectedAccount: details,
  });
  return id;
}

/** Fills an environment with a day of accounts, calls and settings. */
export async function fillConsole(world: ConsoleWorld): Promise<{ accountId: string; executionId: string }> {
  const { server } = world;
  await server.call('PUT', '/api/v1/environment', { body: { keep_events: true, keep_execution_contents: true } });
  const accountId = await addNotes(world);
  for (const name of ['grace', 'alan', 'edsger', 'barbara', 'donald'])
    await createAccount(server, { identifier: `${name}@acme.example`, userId: `user_${name}` });
  const tools = [
    { connector: 'slack', type: 'OAUTH' },
    { connector: 'notion', type: 'OAUTH' },
  ];
  for (const body of tools) await server.call('POST', '/api/v1/connections', { body });
  await addCalls(server, accountId, 400);
  const hook = { url: 'https://app.acme.example/hooks/valetkey', description: 'Contoso backend' };
  await server.call('POST', '/api/v1/webhook_endpoints', { body: hook });
  const { connections } = (await server.call('GET', '/api/v1/connections')).body;
  const [{ id }] = connections;
  await server.call('POST', '/api/v1/mcp/configs', {
    body: { name: 'Support agents', mappings: [{ connection_id: id }] },
  });
  const overlays = {
    github_create_issue: {
      new_name: 'report_bug',
      title: 'Report a bug',
      added_description: 'Use it for bugs of the shop only.',
      preset_inputs: { owner: 'acme', repo: 'shop' },
      allowed_values: { labels: ['bug', 'regression'] },
    },
    slack_delete_message: { hidden: true },
  };
  for (const [name, body] of Object.entries(overlays))
    await server.call('PUT', `/api/v1/tool_overlays/${name}`, { body });
  const ran = await execute(server, accountId, 'acme_notes_get_note', { number: 7 });
  return { accountId, executionId: ran.body.execution_id };
}

/** Stores accounts without credentials, on the connection of the newest account. */
export async function addAccounts(server: TestServer, count: number): Promise<void> {
  const { store, newId } = server.parts;
  const { id: environmentId } = await server.parts.environmentOf('localhost');
  const { rows } = await store.read.accounts.list(environmentId, {}, { size: 1 });
  const [known] = rows;
  if (!known) throw new Error('an account is needed');
  for (let from = 0; from < count; from += 500) {
    await store.write(async (tx) => {
      for (let index = from; index < Math.min(count, from + 500); index++) {
        const identifier = `user-${index}@acme.example`;
        await tx.accounts.insert(environmentId, account(newId, known.connectionId, { identifier }));
      }
    });
  }
}

/** Records executions of the last day, spread by a fixed pattern. */
export async function addCalls(server: TestServer, accountId: string, count: number): Promise<void> {
  const { store, newId, now } = server.parts;
  const environment = await server.parts.environmentOf('localhost');
  const hours = hoursAgo(count);
  for (let from = 0; from < count; from += 500) {
    await store.write(async (tx) => {
      for (let index = from; index < Math.min(count, from + 500); index++) {
        const id = newId('exec');
        const toolName = TOOLS[(index * 7) % TOOLS.length] as string;
        const connector = toolName.split('_')[0] as string;
        const finishedAt = Math.round(now() - (hours[index] as number) * HOUR_MS);
        const startedAt = finishedAt - 40 - ((index * 137) % 900);
        const call = { id, accountId, connector, toolName, agentRunId: null, apiClientId: 'test-client', instance: 0 };
        await tx.executions.insert(environment.id, { ...call, startedAt });
        await tx.executions.finish(environment.id, id, { ...outcomeOf(index), finishedAt });
      }
    });
  }
}

/** Returns how many hours ago each call of a day ended, the oldest first. More of them are in working hours. */
function hoursAgo(count: number): number[] {
  const shares = Array.from({ length: count }, (_, index) => index / count);
  const hours = shares.map((share) => 23.5 * share + 1.4 * Math.sin(share * 4 * Math.PI));
  return hours.map((hour) => Math.min(Math.max(hour, 0.05), 23.5)).sort((a, b) => b - a);
}

function outcomeOf(index: number): Omit<ExecutionOutcome, 'finishedAt'> {
  if (index % 9 !== 0) return { status: 'SUCCEEDED', upstreamStatus: 200 };
  return { status: 'FAILED', errorKind: KINDS[(index / 9) % KINDS.length] as never };
}
