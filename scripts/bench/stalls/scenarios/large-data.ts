import Database from 'better-sqlite3';
import { readConfig } from '../../../../http/config/config.ts';
import { createApplication } from '../../../../wiring/create-application.ts';
import { seed } from '../../seed.ts';
import type { Lab, Party, Scenario } from '../scenario.ts';
import { executions, fill, numbers } from './seed-data.ts';

const HOUR = 60 * 60 * 1000;

const expiredKeys = (count: number) => `${numbers(count)}
  insert into idempotency_keys (environment_id, client_id, route, key_digest, request_digest, instance, state, created_at, expires_at)
  select (select id from environments), 'client', 'route', randomblob(32), randomblob(32), 0, 'DONE', 1, 2 from n;`;

async function lists(lab: Lab, paths: readonly string[]): Promise<string> {
  const statuses: number[] = [];
  for (const path of paths) statuses.push(await lab.status('GET', `/api/v1/${path}`));
  return statuses.join(' ');
}

const search = (name: string, accounts: number): Scenario => ({
  id: 'F6',
  name,
  seed: async (env) => void (await seed(env, accounts)),
  play: (lab) =>
    lists(lab, [
      'connected_accounts',
      'connected_accounts:search?query=user',
      'connected_accounts:search?query=example',
    ]),
});

let party: Party;

export const LARGE_DATA: readonly Scenario[] = [
  {
    id: 'F6',
    name: 'lists of 200,000 executions by every filter',
    seed: (env) => fill(env, executions(200_000, Date.now() - HOUR)),
    play: (lab) =>
      lists(
        lab,
        ['', 'status=FAILED', 'status=UNKNOWN', 'tool_name=t3', 'connector=c2', 'connector=none'].map(
          (filter) => `executions?${filter}`,
        ),
      ),
  },
  search('searches among 20,000 accounts', 20_000),
  {
    id: 'F7',
    name: '200,000 expired idempotency keys and 50,000 old executions',
    seed: (env) => fill(env, `${expiredKeys(200_000)} ${executions(50_000, 1)}`),
    async play(lab) {
      // Expired rows are first removed five seconds after the start.
      await new Promise((resolve) => setTimeout(resolve, 10_000));
      return String(await lab.status('GET', '/api/v1/executions'));
    },
  },
  {
    id: 'F1',
    name: 'deletion beside another reader of the database',
    async prepare(lab) {
      party = await lab.party();
    },
    async play(lab) {
      const reader = new Database(`${lab.folder}/valetkey.db`, { readonly: true });
      reader.exec('begin; select count(*) from accounts;');
      const status = await lab.status('POST', '/api/v1/connected_accounts:delete', { body: { id: party.accountId } });
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      reader.exec('commit');
      reader.close();
      return String(status);
    },
  },
  {
    id: 'L7',
    name: 'first search and list of an environment with 15,000 tools',
    seed: (env) => storeTools(env, 15_000),
    play: (lab) =>
      lists(lab, [
        'tools:search?query=create%20an%20invoice',
        'tools?connector=acme',
        'tools:scoped?user_id=ada',
        'tools?query=thing',
      ]),
  },
  {
    id: 'L7',
    name: 'search for 16 unknown words beside 15,000 tools with 900,000 different words',
    seed: (env) => storeTools(env, 15_000, undefined, differentWords),
    play: (lab) =>
      lists(lab, [`tools:search?query=${Array.from({ length: 16 }, (_, at) => `zqwxk${at}`).join('%20')}`]),
  },
  {
    id: 'F6',
    name: 'lists of 200 tools with schemas of 60 KB, in every format',
    seed: (env) => storeTools(env, 200, LARGE_SCHEMA),
    play: (lab) =>
      lists(
        lab,
        ['', '&detail=full', '&format=openai&strict=true', '&format=gemini', '&format=mcp'].map(
          (view) => `tools?connector=acme&page_size=100${view}`,
        ),
      ),
  },
];

const LARGE_SCHEMA = {
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: 1_200 }, (_, at) => [`input${at}`, { type: 'string', description: `d${at}` }]),
  ),
};

function differentWords(tool: number): string {
  return Array.from({ length: 60 }, (_, at) => `z${(tool * 60 + at).toString(36)}q`).join(' ');
}

async function storeTools(
  env: Record<string, string>,
  count: number,
  input_schema: object = { type: 'object', properties: { number: { type: 'integer' } } },
  describe = (at: number) => `Reads the invoice ${at} with its customer and its amount.`,
): Promise<void> {
  const { config, secrets } = readConfig({ ...env, LOG_LEVEL: 'silent' });
  const { parts, firstStart } = await createApplication(config, secrets);
  const rows = Array.from({ length: count }, (_, at) => {
    const name = `acme_get_thing_${at}`;
    const definition = {
      connector: 'acme',
      name,
      title: `Get thing ${at}`,
      description: describe(at),
      tags: ['things'],
      hints: { read_only: true, destructive: false, idempotent: true, open_world: false },
      scopes: [],
      input_schema: { ...input_schema },
      output_schema: { type: 'object' },
      examples: [],
      request: { method: 'GET' as const, path: '/things' },
    };
    return { name, connector: 'acme', source: 'custom' as const, sourceId: null, definition, flagged: null, at: 0 };
  });
  for (let from = 0; from < count; from += 500) {
    await parts.store.write((tx) =>
      tx.environmentTools.upsert(firstStart.environment.id, rows.slice(from, from + 500)),
    );
  }
  await parts.close();
}
