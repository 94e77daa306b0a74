import { gzipSync } from 'node:zlib';
import { THREADS } from '../../../../core/budgets.ts';
import { deepLists, emptyObjects, escapes, longNumber, longNumbers, manyKeys, zeros } from '../hostile-json.ts';
import type { Lab, Party, Scenario } from '../scenario.ts';

const MIB = 1024 * 1024;

/** Measures a tool call that receives this response, after one with a small response. */
function answered(
  name: string,
  make: () => { body: string | Buffer; type?: string; status?: number; headers?: Record<string, string> },
  id = 'H7',
): Scenario {
  let party: Party;
  return {
    id,
    name,
    grantedMiB: THREADS.heapBytes / MIB,
    async prepare(lab) {
      lab.on('/small', (_req, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}'));
      const { body, type = 'application/json', status = 200, headers } = make();
      const bytes = Buffer.from(body as string);
      lab.on('/large', (_req, res) => res.writeHead(status, { 'content-type': type, ...headers }).end(bytes));
      party = await lab.party();
      await get(lab, party, '/small');
    },
    play: (lab) => get(lab, party, '/large'),
  };
}

async function get(lab: Lab, party: Party, path: string): Promise<string> {
  const { status, body, text } = await lab.execute(party, 'http_get', { path });
  const data = body?.data;
  const shape = data?.file_id ? `a file of ${data.size} bytes` : body?.truncated ? 'truncated' : `${text.length} bytes`;
  return `${status} ${body?.code ?? shape}`;
}

/** Measures a raw call that receives this response. */
function raw(name: string, make: () => { body: Buffer; type?: string }): Scenario {
  let party: Party;
  return {
    id: 'H7',
    name,
    async prepare(lab) {
      lab.on('/small', (_req, res) => res.writeHead(200).end('small'));
      const { body, type = 'text/plain' } = make();
      lab.on('/large', (_req, res) => res.writeHead(200, { 'content-type': type }).end(body));
      party = await lab.party();
      await lab.status('GET', '/api/v1/proxy/small', { headers: { 'valetkey-account-id': party.accountId } });
    },
    async play(lab) {
      const status = await lab.status('GET', '/api/v1/proxy/large', {
        headers: { 'valetkey-account-id': party.accountId },
      });
      return `${status}`;
    },
  };
}

export const RESPONSES: readonly Scenario[] = [
  answered('response of 10 MiB of JSON with many keys', () => ({ body: manyKeys(9.9) })),
  answered('the same, gzipped', () => ({ body: gzipSync(manyKeys(9.9)), headers: { 'content-encoding': 'gzip' } })),
  answered('response of 2 MiB of JSON with many keys', () => ({ body: manyKeys(1.99) })),
  answered('response of 250 KiB of JSON with many keys', () => ({ body: manyKeys(0.24) })),
  answered('response with one long number and five million small ones', () => ({ body: longNumber(9.9) })),
  answered('response of 250 KiB with one long number and many small ones', () => ({ body: longNumber(0.24) })),
  answered('response of 2 MiB of long numbers', () => ({ body: longNumbers(1.99) })),
  answered('response of 10 MiB of deep lists', () => ({ body: deepLists(9.9) })),
  answered('response of 2 MiB of deep lists', () => ({ body: deepLists(1.99) })),
  answered('response of 250 KiB of deep lists', () => ({ body: deepLists(0.24) })),
  answered('response of five million zeros', () => ({ body: zeros(9.9) })),
  answered('response of 10 MiB of empty objects', () => ({ body: emptyObjects(9.9) })),
  answered('response of 250 KiB of empty objects', () => ({ body: emptyObjects(0.24) })),
  answered('response of 10 MiB of escapes', () => ({ body: escapes(9.9) })),
  answered('response of 10 MiB of text', () => ({ body: 'words &amp; more %20 '.repeat(MIB / 2), type: 'text/html' })),
  answered('response of 10 MiB of XML', () => ({
    body: `<a>${'<b c="&#x41;">x</b>'.repeat(MIB / 2)}</a>`,
    type: 'application/xml',
  })),
  answered('response of 10 MiB of bytes', () => ({
    body: Buffer.alloc(9.9 * MIB, 'sec='),
    type: 'application/octet-stream',
  })),
  answered('response of 10 MiB of JSON without a type', () => ({ body: zeros(9.9), headers: { 'content-type': '' } })),
  answered('failure of 10 MiB of JSON', () => ({ body: manyKeys(9.9), status: 400 })),
  answered('failure of 10 MiB of text', () => ({ body: '\\u0041 '.repeat(MIB), type: 'text/plain', status: 500 })),
  answered('JSON that is none, of 10 MiB', () => ({ body: '{"a":'.repeat(2 * MIB) })),
  answered('header fields of 60 KiB', () => ({
    body: '{}',
    headers: Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`x-h${index}`, '<a>;rel="next",'.repeat(60)]),
    ),
  })),
  answered('Link header of 60 KiB', () => ({ body: '[]', headers: { link: '<a>; rel="b; c", '.repeat(3500) } }), 'own'),
  raw('raw call with 10 MiB of escapes', () => ({ body: Buffer.from('%41\\u0041&#x41;'.repeat(MIB / 2)) })),
  raw('raw call with 90 MiB of zeros', () => ({ body: Buffer.alloc(90 * MIB) })),
];
