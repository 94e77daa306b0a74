import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { IMPORT, THREADS } from '../../../../core/budgets.ts';
import { manyKeys } from '../hostile-json.ts';
import type { Lab, Party, Scenario } from '../scenario.ts';

const MIB = 1024 * 1024;
const THREAD_MIB = THREADS.heapBytes / MIB;

const repeated = (item: string, times: number) => `[${Array(times).fill(item).join()}]`;
const members = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":0`).join();

/** Measures one request with a hostile body. */
function posted(id: string, name: string, path: string, make: () => string, grantedMiB = 0): Scenario {
  let body = '';
  return {
    id,
    name,
    grantedMiB,
    async prepare(lab) {
      body = make();
      await lab.status('POST', path, { body: '{}' });
    },
    play: async (lab) => {
      const reply = await lab.call('POST', path, { body });
      return `${reply.status} ${reply.body?.code ?? ''}`;
    },
  };
}

const accountWith = (details: string) =>
  `{"connector":"http","user_id":"u","identifier":"i","connected_account":{"authorization_details":{"static_auth":{"details":${details}}}}}`;

/** Measures a request to create a tool with this schema. */
function toolWith(name: string, schema: () => unknown): Scenario {
  let party: Party;
  return {
    id: 'H5',
    name,
    grantedMiB: THREAD_MIB,
    async prepare(lab) {
      party = await lab.party();
      await lab.call('POST', '/api/v1/tools', { body: toolOf(party, 'first', { type: 'object', properties: {} }) });
    },
    async play(lab) {
      const created = await lab.call('POST', '/api/v1/tools', { body: toolOf(party, 'second', schema()) });
      return `${created.status} ${created.body?.code ?? ''} ${created.body?.errors?.[0]?.field ?? ''}`;
    },
  };
}

function toolOf({ connector }: Party, verb: string, input_schema: unknown) {
  return {
    connector,
    name: `${connector.replaceAll('-', '_')}_${verb}`,
    title: 'Get a thing',
    description: `Reads one thing by its number, with its name and colour. Changes nothing. It is the ${verb}.`,
    tags: ['things'],
    hints: { read_only: true, destructive: false, idempotent: true, open_world: false },
    scopes: [],
    input_schema: { additionalProperties: false, ...(input_schema as object) },
    output_schema: { type: 'object' },
    examples: [{ input: {}, note: 'The first thing.' }],
    // The request uses each input, so that only the rules of the schema can reject the tool.
    request: { method: 'GET', path: '/small', query: placed(input_schema) },
  };
}

function placed(schema: unknown): Record<string, unknown> {
  const { properties = {} } = schema as { properties?: Record<string, unknown> };
  return Object.fromEntries(Object.keys(properties).map((name) => [name, { $input: name }]));
}

/** `d0` refers to `d1` twice, and so on: 2^levels subschemas. */
function doubling(levels: number): unknown {
  const ref = (at: number) => ({ $ref: `#/$defs/d${at}` });
  const $defs = Object.fromEntries(
    Array.from({ length: levels }, (_, at) => [
      `d${at}`,
      at === levels - 1 ? { type: 'string' } : { allOf: [ref(at + 1), ref(at + 1)] },
    ]),
  );
  return { type: 'object', properties: { a: { type: 'string', ...ref(0), description: 'Anything.' } }, $defs };
}

const THING = { $comment: 'open: members of any name', type: 'object', description: 'A thing.' };

/** An input whose validation time doubles with each level. */
const recursion: Scenario = {
  ...toolWith('input of 30 levels for a schema that doubles with each', () => ({})),
  async play(lab) {
    const party = await lab.party();
    const both = { properties: { a: { $ref: '#/$defs/both' } } };
    const a = { ...THING, $ref: '#/$defs/both' };
    const $defs = { both: { type: 'object', allOf: [both, both] } };
    const body = toolOf(party, 'recurse', { type: 'object', properties: { a }, $defs });
    const created = await lab.call('POST', '/api/v1/tools', { body });
    const input = JSON.parse(`${'{"a":'.repeat(30)}{}${'}'.repeat(30)}`);
    const reply = await lab.execute(party, body.name, input);
    return `${created.status} ${created.body?.errors?.[0]?.field ?? ''} ${reply.status} ${reply.body?.code ?? ''}`;
  },
};

/** Measures a call whose input has the maximum size. */
function toolInput(name: string, make: () => string): Scenario {
  let party: Party;
  let body: unknown;
  return {
    id: 'own',
    name,
    async prepare(lab) {
      party = await lab.party();
      body = JSON.parse(make());
      lab.on('/small', (_req, res) => res.writeHead(200).end());
      await lab.execute(party, 'http_post', { path: '/small', body: {} });
    },
    async play(lab) {
      const reply = await lab.execute(party, 'http_post', { path: '/small', body });
      return `${reply.status} ${reply.body?.code ?? ''}`;
    },
  };
}

const backtracking = JSON.stringify({
  connector: 'acme',
  base_url: 'https://h0.hostile.example',
  files: [
    {
      name: 'api.json',
      content: JSON.stringify({
        openapi: '3.1.0',
        info: { title: 'a'.repeat(50_000), version: '1' },
        paths: { '/things': { get: { operationId: 'listThings', responses: {} } } },
      }),
    },
  ],
  overlays: [
    {
      name: 'overlay.json',
      content: JSON.stringify({
        overlay: '1.0.0',
        info: { title: 'x', version: '1' },
        actions: [{ target: "$..[?match(@, '(a|a)*(a|a)*b')]", remove: true }],
      }),
    },
  ],
});

/** Measures concurrent requests of several clients. */
function atOnce(
  id: string,
  name: string,
  count: number,
  run: (lab: Lab) => Promise<unknown>,
  grantedMiB = 0,
): Scenario {
  return {
    id,
    name,
    grantedMiB,
    async play(lab) {
      const results = await Promise.all(Array.from({ length: count }, () => run(lab)));
      const counts = Object.entries(Object.groupBy(results, (result) => String(result)));
      return counts.map(([result, list]) => `${list?.length} x ${result}`).join(', ');
    },
  };
}

/** Sends text on a connection and does not read for a while. */
async function sendAndWait({ server }: Lab, text: string): Promise<string> {
  const socket = connect(server.port, '127.0.0.1').on('error', () => {});
  socket.pause().write(text);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  socket.destroy();
  return 'sent';
}

let party: Party;

/** Calls with idempotency keys whose responses have the maximum size that is stored. */
const keptReplies: Scenario = {
  id: 'M10',
  name: '100 calls whose large responses are kept, each asked for twice',
  grantedMiB: THREAD_MIB,
  async prepare(lab) {
    party = await lab.party();
    const bytes = Buffer.from(JSON.stringify({ text: randomBytes(32 * 1024).toString('hex') }));
    lab.on('/large', (_req, res) => res.writeHead(200, { 'content-type': 'application/json' }).end(bytes));
    await lab.execute(party, 'http_get', { path: '/large' });
  },
  async play(lab) {
    const ask = (key: number) =>
      lab.call('POST', '/api/v1/execute_tool', {
        body: { connected_account_id: party.accountId, tool_name: 'http_get', tool_input: { path: '/large' } },
        headers: { 'idempotency-key': `key-${key}` },
      });
    const statuses: string[] = [];
    for (let round = 0; round < 2; round++) {
      const replies = await Promise.all(Array.from({ length: 100 }, (_, key) => ask(key)));
      statuses.push(...new Set(replies.map(({ status, text }) => `${status} with ${text.length} bytes`)));
    }
    return statuses.join(', ');
  },
};

let parties: Party[];

/** Calls whose responses stop before their end, so that the server holds each incomplete body in memory. */
const stalled: Scenario = {
  id: 'M3',
  name: '60 calls to two hosts that stall within 10 MiB',
  grantedMiB: 256,
  async prepare(lab) {
    lab.on('/small', (_req, res) => res.writeHead(200).end());
    lab.on('/stall', (_req, res) => {
      res.writeHead(200, { 'content-length': 10 * MIB }).write(Buffer.alloc(9 * MIB));
    });
    parties = [await lab.party({ host: 'h0.hostile.example' }), await lab.party({ host: 'h1.hostile.example' })];
    for (const party of parties) await lab.execute(party, 'http_get', { path: '/small' });
  },
  async play(lab) {
    const calls = parties.flatMap((party) =>
      Array.from({ length: 30 }, () => lab.execute(party, 'http_get', { path: '/stall' })),
    );
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    return Object.entries(Object.groupBy(statuses, String))
      .map(([status, list]) => `${list?.length} x ${status}`)
      .join(', ');
  },
};

export const REQUESTS: readonly Scenario[] = [
  posted(
    'H4',
    'import with 7.9 million zeros',
    '/api/v1/tools:import',
    () => `{"connector":"a","files":${repeated('0', 7_900_000)}}`,
    THREAD_MIB + 32,
  ),
  posted(
    'H4',
    'import with a million unknown members',
    '/api/v1/tools:import',
    () => `{"connector":"a",${members(1_000_000)}}`,
    THREAD_MIB + 32,
  ),
  posted(
    'H4',
    'import with 190,000 files',
    '/api/v1/tools:import',
    () => `{"connector":"a","files":${repeated('0', 190_000)}}`,
    THREAD_MIB,
  ),
  posted(
    'L3',
    'client with 110,000 scopes',
    '/api/v1/api_clients',
    () => `{"name":"a","scopes":${repeated('0', 110_000)}}`,
  ),
  posted('L6', 'account with 250 KB of unknown details', '/api/v1/connected_accounts', () =>
    accountWith(`{${members(20_000)}}`),
  ),
  posted('L6', 'body of 250 KB with unknown members', '/api/v1/connections', () => `{${members(20_000)}}`),
  posted(
    'own',
    'body of 250 KB of brackets',
    '/api/v1/connections',
    () => `${'['.repeat(30)}${repeated('[]', 80_000)}`,
  ),
  posted('own', 'body of 250 KB of escapes', '/api/v1/connections', () => `{"${'\\u0061'.repeat(40_000)}":1}`),
  toolWith('tool whose schema doubles 30 times', () => doubling(30)),
  toolWith('tool whose schema doubles 13 times', () => doubling(13)),
  toolWith('tool with 2,000 properties', () => ({
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: 2_000 }, (_, at) => [`p${at}`, { type: 'string', description: 'Anything.' }]),
    ),
  })),
  toolWith('tool with quadratic uniqueItems', () => ({
    type: 'object',
    properties: { a: { description: 'Things.', type: 'array', uniqueItems: true, items: THING } },
  })),
  recursion,
  toolInput('tool input with 18,000 members', () => manyKeys(0.19)),
  toolInput('tool input with 30,000 empty lists', () => repeated('[]', 30_000)),
  toolInput('tool input of 200 KB of escaped text', () => JSON.stringify('"\\u0041 '.repeat(20_000))),
  posted(
    'M4',
    'overlay with a backtracking pattern',
    '/api/v1/tools:import',
    () => backtracking,
    IMPORT.heapBytes / MIB,
  ),
  keptReplies,
  atOnce('M8', '20 forms of 250 KB without a token', 20, (lab) =>
    lab.status('POST', '/oauth/token', {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'a=1&'.repeat(64_000),
    }),
  ),
  atOnce('M8', '20 forms of 16 KB without a token', 20, (lab) =>
    lab.status('POST', '/oauth/token', {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'a=%41'.repeat(3_200),
    }),
  ),
  atOnce(
    'F5',
    '50 connections with 100 requests each that do not read',
    50,
    (lab) => sendAndWait(lab, 'GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(100)),
    64,
  ),
  atOnce(
    'F5',
    '50 connections with 30 requests each that do not read',
    50,
    (lab) => sendAndWait(lab, 'GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(30)),
    64,
  ),
  atOnce('F5', '50 connections with 2,000 tiny requests each', 50, (lab) =>
    sendAndWait(lab, 'GET / HTTP/1.1\r\nHost:a\r\n\r\n'.repeat(2_000)),
  ),
  atOnce('F5', '50 connections with 2,000 requests without a host', 50, (lab) =>
    sendAndWait(lab, 'GET / HTTP/1.1\r\n\r\n'.repeat(2_000)),
  ),
  atOnce('own', '100 connections with a header of 15 KB each', 100, (lab) =>
    sendAndWait(lab, `GET /healthz HTTP/1.1\r\nHost: localhost\r\n${'x: 1\r\n'.repeat(2_400)}\r\n`),
  ),
  stalled,
];
