import type { IncomingMessage, ServerResponse } from 'node:http';
import { THREADS } from '../../../../core/budgets.ts';
import { manyKeys } from '../hostile-json.ts';
import type { Lab, Party, Scenario } from '../scenario.ts';

const MIB = 1024 * 1024;
const THREAD_MIB = THREADS.heapBytes / MIB;
const MCP = {
  type: 'BEARER_TOKEN',
  is_mcp: true,
  fields: [{ field_name: 'token', label: 'Token', input_type: 'password', required: true }],
};

interface Message {
  id: number;
  method: string;
  params?: { cursor?: string; protocolVersion?: string };
}

type Play = (message: Message, res: ServerResponse) => void;

/** Runs an MCP server with one tool, which behaves correctly except for one method. */
function serve(lab: Lab, method: string, play: Play): void {
  lab.on('/mcp', async (req, res) => {
    const message = await read(req);
    if (message?.method === method) play(message, res);
    else if (message) usual(message, res);
    else res.writeHead(405).end();
  });
}

function usual({ id, method, params }: Message, res: ServerResponse): void {
  const { protocolVersion } = params ?? {};
  if (method === 'initialize') {
    reply(res, id, { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'm', version: '1' } });
  } else if (method === 'tools/list') {
    reply(res, id, { tools: [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }] });
  } else if (id === undefined) res.writeHead(202).end();
  else json(res, JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }));
}

function reply(res: ServerResponse, id: number, result: unknown): void {
  json(res, JSON.stringify({ jsonrpc: '2.0', id, result }));
}

function json(res: ServerResponse, text: string): void {
  res.writeHead(200, { 'content-type': 'application/json' }).end(text);
}

async function read(req: IncomingMessage): Promise<Message | undefined> {
  const text = Buffer.concat(await req.toArray()).toString();
  return text === '' ? undefined : (JSON.parse(text) as Message);
}

/** Measures a call of the server's tool, after one that succeeded. */
function called(id: string, name: string, play: Play): Scenario {
  let party: Party;
  let tool: string;
  return {
    id,
    name,
    grantedMiB: THREAD_MIB,
    async prepare(lab) {
      serve(lab, 'tools/call', (message, res) => reply(res, message.id, { content: [{ type: 'text', text: 'x' }] }));
      party = await lab.party({ pattern: MCP, path: '/mcp' });
      await sync(lab, party);
      tool = `${party.connector.replaceAll('-', '_')}_look`;
      await lab.execute(party, tool);
      serve(lab, 'tools/call', play);
    },
    async play(lab) {
      const { status, body, text } = await lab.execute(party, tool);
      return `${status} ${body?.code ?? `${text.length} bytes`}`;
    },
  };
}

/** Measures a synchronization of the server's tools. */
function listed(id: string, name: string, play: Play, times = 1): Scenario {
  let parties: Party[];
  return {
    id,
    name,
    grantedMiB: THREAD_MIB,
    async prepare(lab) {
      serve(lab, 'none', () => {});
      parties = [];
      for (let count = 0; count < times; count++) parties.push(await lab.party({ pattern: MCP, path: '/mcp' }));
      await sync(lab, parties[0] as Party);
      serve(lab, 'tools/list', play);
    },
    play: async (lab) => (await Promise.all(parties.map((party) => sync(lab, party)))).join(),
  };
}

async function sync(lab: Lab, { connector }: Party): Promise<string> {
  const { status, body } = await lab.call('POST', `/api/v1/custom-providers/${connector}:sync_tools`, { body: {} });
  return `${status} ${body?.code ?? ''}`.trim();
}

const toolOf = (at: number, more: object = {}) => ({
  name: `tool-${at}`,
  description: 'Reads one thing.',
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 10 }, (_, p) => [`p${p}`, { type: 'string' }])),
  },
  ...more,
});

export const MCP_SERVERS: readonly Scenario[] = [
  called('H7', 'MCP stream of 2 MiB of notifications', (_message, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.end(
      'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\n\n'.repeat(20_000),
    );
  }),
  called('own', 'MCP stream of 2 MiB of comments', (_message, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).end(':\n'.repeat(MIB));
  }),
  called('own', 'MCP result with 95,000 values', ({ id }, res) =>
    reply(res, id, { structuredContent: { list: Array(95_000).fill(0) }, content: [] }),
  ),
  called('own', 'MCP result of 1 MiB of members', ({ id }, res) =>
    json(res, `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":${manyKeys(0.99)}}}`),
  ),
  called('own', 'MCP result of 2 MiB of text', ({ id }, res) =>
    reply(res, id, { content: [{ type: 'text', text: 'words and "quotes" '.repeat(95_000) }] }),
  ),
  called('own', 'MCP error of 1 MiB', ({ id }, res) =>
    json(res, JSON.stringify({ jsonrpc: '2.0', id, error: { code: -1, message: 'x '.repeat(MIB / 2), data: 'y' } })),
  ),
  called('H6', 'MCP error of 1 MiB that repeats a credential in escapes', ({ id }, res) =>
    json(
      res,
      `{"jsonrpc":"2.0","id":${id},"error":{"code":-32602,"message":"${'\\u006bey-1-0123456789abcdef '.repeat(MIB / 32)}"}}`,
    ),
  ),
  called('H6', 'MCP result of 1 MiB of texts that repeat a credential', ({ id }, res) =>
    reply(res, id, { content: Array(20_000).fill({ type: 'text', text: 'Bearer key-1-0123456789abcdef' }) }),
  ),
  listed('H6', 'list of tools of 1 MiB that repeats a credential', ({ id }, res) =>
    reply(res, id, { tools: [toolOf(0, { description: 'Bearer key-1-0123456789abcdef '.repeat(35_000) })] }),
  ),
  listed('H8', 'endless list of pages of 1 MiB', ({ id, params }, res) => {
    const page = Number(params?.cursor ?? 0);
    reply(res, id, { tools: [toolOf(page, { description: 'x'.repeat(MIB) })], nextCursor: String(page + 1) });
  }),
  listed(
    'H8',
    'three lists of pages of 10 MiB at one time',
    ({ id }, res) => reply(res, id, { tools: [toolOf(0, { description: 'x'.repeat(10 * MIB) })], nextCursor: '1' }),
    3,
  ),
  listed('H8', '100 pages that each repeat a tool of 40 KB', ({ id, params }, res) =>
    reply(res, id, {
      tools: [toolOf(0, { description: 'x'.repeat(40_000) })],
      nextCursor: String(Number(params?.cursor ?? 0) + 1),
    }),
  ),
  listed('H8', 'list with cursors of 1 MiB', ({ id, params }, res) =>
    reply(res, id, { tools: [toolOf(0)], nextCursor: `${'c'.repeat(MIB)}${params?.cursor?.length ?? 0}` }),
  ),
  listed('H8', 'list of 1,000 tools with names of 4 KB', ({ id }, res) =>
    reply(res, id, {
      tools: Array.from({ length: 1_000 }, (_, at) => ({ ...toolOf(at), name: `${at}${'n'.repeat(4_000)}` })),
    }),
  ),
  listed('H8', 'list of 1,000 tools with 4 KB of unknown members', ({ id }, res) =>
    reply(res, id, {
      tools: Array.from({ length: 1_000 }, (_, at) =>
        toolOf(at, { _meta: { text: 'm'.repeat(1_900) }, annotations: { title: 't'.repeat(1_500) } }),
      ),
    }),
  ),
  listed(
    'H8',
    'five lists of 1,000 tools at one time',
    ({ id }, res) => reply(res, id, { tools: Array.from({ length: 1_000 }, (_, at) => toolOf(at)) }),
    5,
  ),
  listed('H8', 'list of 4 MiB of one tool with 64 levels', ({ id }, res) => {
    const nested = (levels: number): object =>
      levels === 0 ? { type: 'string' } : { type: 'object', properties: { a: nested(levels - 1) } };
    reply(res, id, { tools: Array.from({ length: 1_000 }, (_, at) => toolOf(at, { inputSchema: nested(60) })) });
  }),
  listed('own', 'list of 1,000 tools', ({ id }, res) =>
    reply(res, id, { tools: Array.from({ length: 1_000 }, (_, at) => toolOf(at)) }),
  ),
  listed('H5', 'list with a schema that doubles 30 times', ({ id }, res) => {
    const ref = (at: number) => ({ $ref: `#/$defs/d${at}` });
    const $defs = Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => [`d${at}`, at === 29 ? {} : { allOf: [ref(at + 1), ref(at + 1)] }]),
    );
    reply(res, id, { tools: [toolOf(0, { inputSchema: { type: 'object', $defs, properties: { a: ref(0) } } })] });
  }),
];
