import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';

/** Bytes to send, optionally repeated or slowly. */
export type Piece = string | Buffer | { bytes: string | Buffer; times?: number; everyMs?: number };

/**
 * A malicious message: a response to a call, or a request. All omitted members are correct, so that each shape is wrong
 * in one way.
 */
export interface Shape {
  name: string;
  /** The first line of a response; null for a message without one, and without headers. */
  start?: string | null;
  /** Additional headers; a content type replaces the usual one. */
  headers?: readonly string[];
  /** By default the message has a content-length, unless a header replaces it. */
  framing?: 'none';
  /** @param secret the credential of the call, if the message is a response to it */
  body?: readonly Piece[] | ((secret: string) => readonly Piece[]);
  /**
   * The end of the shape: the connection is closed, lost, or silent. By default the connection stays open for another
   * message.
   */
  end?: 'close' | 'reset' | 'silence';
  /** The message is sent as soon as a connection is open, before any request. */
  unasked?: true;
}

const KB = 1024;
const MB = 1024 * KB;
const ENDLESS = Number.POSITIVE_INFINITY;
const JSON_TEXT = '{"ok":true,"items":[1,2,3]}';
const CHUNKED = 'transfer-encoding: chunked';
const chunk = (text: string | Buffer) =>
  Buffer.concat([Buffer.from(`${text.length.toString(16)}\r\n`), Buffer.from(text), Buffer.from('\r\n')]);
const LAST = '0\r\n\r\n';
const nested = (open: string, depth: number, close: string) => open.repeat(depth) + close.repeat(depth);

const CONNECTIONS: Shape[] = [
  { name: 'closes immediately', start: null, end: 'close', unasked: true },
  { name: 'resets immediately', start: null, end: 'reset', unasked: true },
  { name: 'closes after the request', start: null, end: 'close' },
  { name: 'resets after the request', start: null, end: 'reset' },
  { name: 'says nothing', start: null, end: 'silence' },
  { name: 'speaks before it is asked', unasked: true, body: [JSON_TEXT] },
  {
    name: 'speaks another protocol first',
    start: null,
    unasked: true,
    body: ['SSH-2.0-OpenSSH_9.2\r\n'],
    end: 'silence',
  },
  { name: 'speaks TLS', start: null, body: [Buffer.from('160303004a0200004603035b', 'hex')], end: 'silence' },
  { name: 'speaks HTTP/2', start: null, body: [Buffer.from('000006040000000000000400000000', 'hex')], end: 'close' },
  { name: 'speaks HTTP/0.9', start: null, body: ['<html>hello</html>'], end: 'close' },
  { name: 'sends noise', start: null, body: [Buffer.alloc(4 * KB, 0xff)], end: 'close' },
  { name: 'sends empty lines for ever', start: null, body: [{ bytes: '\r\n'.repeat(512), times: ENDLESS }] },
];

const START_LINES: Shape[] = [
  { name: 'ends in the status line', start: null, body: ['HTTP/1.1 20'], end: 'close' },
  { name: 'stops in the status line', start: null, body: ['HTTP/1.1 20'], end: 'silence' },
  { name: 'has a status that is no number', start: 'HTTP/1.1 abc OK' },
  { name: 'has a status below 100', start: 'HTTP/1.1 099 Low' },
  { name: 'has a status above 599', start: 'HTTP/1.1 999 High', body: [JSON_TEXT] },
  { name: 'has a status of four digits', start: 'HTTP/1.1 2000 OK' },
  { name: 'has an unknown version', start: 'HTTP/9.9 200 OK', body: [JSON_TEXT] },
  { name: 'has a reason of 1 MiB', start: `HTTP/1.1 200 ${'x'.repeat(MB)}` },
  { name: 'has control characters in the reason', start: 'HTTP/1.1 200 O\0K' },
];

const HEADERS: Shape[] = [
  { name: 'has a header without a colon', headers: ['no colon here'], body: [JSON_TEXT] },
  { name: 'has a space in the name of a header', headers: ['x name: 1'], body: [JSON_TEXT] },
  { name: 'has a NUL in a header', headers: ['x-a: a\0b'], body: [JSON_TEXT] },
  { name: 'has a bare carriage return in a header', headers: ['x-a: a\rx-b: b'], body: [JSON_TEXT] },
  { name: 'has line feeds alone', start: null, body: ['HTTP/1.1 200 OK\ncontent-length: 2\n\n{}'], end: 'close' },
  { name: 'folds a header', headers: ['x-a: a\r\n b'], body: [JSON_TEXT] },
  { name: 'has a header of 1 MiB', headers: [`x-a: ${'a'.repeat(MB)}`], body: [JSON_TEXT] },
  { name: 'has 20,000 headers', headers: Array.from({ length: 20_000 }, (_, at) => `x-${at}: 1`), body: [JSON_TEXT] },
  {
    name: 'drips its headers',
    start: null,
    body: ['HTTP/1.1 200 OK\r\n', { bytes: 'x: y\r\n', times: ENDLESS, everyMs: 5 }],
  },
  {
    name: 'has headers that objects have',
    headers: ['__proto__: a', 'constructor: b', 'toString: c'],
    body: [JSON_TEXT],
  },
  { name: 'has names and values outside ASCII', headers: ['x-ü: ü', 'x-a: \u00ff'], body: [JSON_TEXT] },
  {
    name: 'sets 500 cookies',
    headers: Array.from({ length: 500 }, (_, at) => `set-cookie: c${at}=1`),
    body: [JSON_TEXT],
  },
  { name: 'has a broken content type', headers: ['content-type: ;;;=;/'], body: [JSON_TEXT] },
];

const FRAMING: Shape[] = [
  { name: 'has two lengths', headers: ['content-length: 2', 'content-length: 27'], body: [JSON_TEXT] },
  { name: 'has a list of lengths', headers: ['content-length: 27, 28'], body: [JSON_TEXT] },
  { name: 'has a negative length', headers: ['content-length: -1'], body: [JSON_TEXT] },
  { name: 'has a length that is no number', headers: ['content-length: many'], body: [JSON_TEXT] },
  { name: 'has a length beyond all numbers', headers: [`content-length: ${'9'.repeat(40)}`], body: [JSON_TEXT] },
  { name: 'announces too much', headers: [`content-length: ${64 * MB}`], body: [JSON_TEXT], end: 'silence' },
  { name: 'has a length and chunks', headers: ['content-length: 5', CHUNKED], body: [chunk(JSON_TEXT), LAST] },
  { name: 'has an unknown transfer coding', headers: ['transfer-encoding: rot13'], body: [JSON_TEXT], end: 'close' },
  {
    name: 'has chunks that are not last',
    headers: ['transfer-encoding: chunked, gzip'],
    body: [chunk(JSON_TEXT), LAST],
    end: 'close',
  },
  { name: 'has a chunk whose size is no number', headers: [CHUNKED], body: ['zz\r\nabc\r\n'] },
  { name: 'has a chunk beyond all numbers', headers: [CHUNKED], body: [`${'f'.repeat(40)}\r\nabc`] },
  { name: 'has a chunk longer than its size', headers: [CHUNKED], body: ['3\r\nabcdef\r\n', LAST] },
  { name: 'has no last chunk', headers: [CHUNKED], body: [chunk(JSON_TEXT)], end: 'close' },
  {
    name: 'has endless extensions of a chunk',
    headers: [CHUNKED],
    body: ['3;', { bytes: 'x'.repeat(KB), times: ENDLESS }],
  },
  {
    name: 'has 1 MiB of trailers',
    headers: [CHUNKED],
    body: [chunk(JSON_TEXT), '0\r\n', { bytes: `x: ${'a'.repeat(KB)}\r\n`, times: KB }, '\r\n'],
  },
  { name: 'has a trailer that ends early', headers: [CHUNKED], body: [chunk(JSON_TEXT), '0\r\nx: '], end: 'close' },
  { name: 'has chunks of one byte', headers: [CHUNKED], body: [{ bytes: '1\r\n1\r\n', times: 2_000 }, LAST] },
  { name: 'is shorter than its length', headers: ['content-length: 100'], body: [JSON_TEXT], end: 'close' },
  { name: 'is lost before its end', headers: ['content-length: 100'], body: [JSON_TEXT], end: 'reset' },
  { name: 'stands still before its end', headers: ['content-length: 100'], body: [JSON_TEXT], end: 'silence' },
  { name: 'is longer than its length', headers: ['content-length: 2'], body: ['{}', JSON_TEXT] },
  { name: 'is followed by another message', body: [JSON_TEXT, 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil'] },
  {
    name: 'ends with the connection',
    framing: 'none',
    headers: ['connection: close'],
    body: [JSON_TEXT],
    end: 'close',
  },
];

const AMOUNTS: Shape[] = [
  { name: 'is endless', headers: [CHUNKED], body: [{ bytes: chunk('a'.repeat(32 * KB)), times: ENDLESS }] },
  {
    name: 'is endless JSON',
    headers: [CHUNKED],
    body: [chunk('[0'), { bytes: chunk(',0'.repeat(16 * KB)), times: ENDLESS }],
  },
  { name: 'drips its body', headers: ['content-length: 100000'], body: [{ bytes: ' ', times: ENDLESS, everyMs: 5 }] },
  { name: 'is a gzip bomb', headers: ['content-encoding: gzip'], body: [gzipSync(Buffer.alloc(16 * MB))] },
  { name: 'is a brotli bomb', headers: ['content-encoding: br'], body: [brotliCompressSync(Buffer.alloc(16 * MB))] },
  { name: 'is a deflate bomb', headers: ['content-encoding: deflate'], body: [deflateSync(Buffer.alloc(16 * MB))] },
  { name: 'is broken gzip', headers: ['content-encoding: gzip'], body: [Buffer.from('1f8b0800deadbeef', 'hex')] },
  { name: 'is cut gzip', headers: ['content-encoding: gzip'], body: [gzipSync(JSON_TEXT).subarray(0, 20)] },
  { name: 'is compressed twice', headers: ['content-encoding: gzip, gzip'], body: [gzipSync(gzipSync(JSON_TEXT))] },
  { name: 'has an unknown coding', headers: ['content-encoding: rot13'], body: [JSON_TEXT] },
  { name: 'has 500 codings', headers: [`content-encoding: ${Array(500).fill('gzip').join()}`], body: [JSON_TEXT] },
];

const STATUSES: Shape[] = [
  { name: 'begins again and again', start: null, body: [{ bytes: 'HTTP/1.1 102 Processing\r\n\r\n', times: ENDLESS }] },
  {
    name: 'hints and says nothing more',
    start: null,
    body: ['HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'],
    end: 'silence',
  },
  {
    name: 'sends 100 Continue without a request for it',
    start: null,
    body: ['HTTP/1.1 100 Continue\r\n\r\n'],
    end: 'silence',
  },
  {
    name: 'switches protocols',
    start: 'HTTP/1.1 101 Switching Protocols',
    headers: ['connection: upgrade', 'upgrade: evil'],
    framing: 'none',
    body: ['evil'],
  },
  { name: 'has a body where there is none', start: 'HTTP/1.1 204 No Content', body: [JSON_TEXT] },
  { name: 'says that nothing has changed', start: 'HTTP/1.1 304 Not Modified', body: [JSON_TEXT] },
  { name: 'redirects to itself', start: 'HTTP/1.1 302 Found', headers: ['location: /'] },
  {
    name: 'redirects to the inside',
    start: 'HTTP/1.1 307 Temporary Redirect',
    headers: ['location: http://169.254.169.254/latest'],
  },
  { name: 'redirects to a script', start: 'HTTP/1.1 301 Moved', headers: ['location: javascript:alert(1)'] },
  { name: 'redirects to nowhere', start: 'HTTP/1.1 308 Permanent Redirect', headers: ['location: https://[::bad'] },
  { name: 'redirects without an address', start: 'HTTP/1.1 300 Multiple Choices' },
  {
    name: 'refuses the credential',
    start: 'HTTP/1.1 401 Unauthorized',
    headers: ['www-authenticate: ,,,"'],
    body: [JSON_TEXT],
  },
  {
    name: 'limits for ever',
    start: 'HTTP/1.1 429 Too Many',
    headers: [`retry-after: ${'9'.repeat(30)}`],
    body: [JSON_TEXT],
  },
  { name: 'limits until the past', start: 'HTTP/1.1 503 Busy', headers: ['retry-after: -5'], body: [JSON_TEXT] },
  {
    name: 'fails with a page',
    start: 'HTTP/1.1 500 Oops',
    headers: ['content-type: text/html'],
    body: ['<script>alert(1)</script>'],
  },
];

const CONTENTS: Shape[] = [
  { name: 'is nothing', body: [] },
  { name: 'is a page', headers: ['content-type: text/html'], body: ['<!doctype html><title>Sign in</title>'] },
  { name: 'is a page that claims to be JSON', body: ['<!doctype html><title>Sign in</title>'] },
  { name: 'is cut JSON', body: ['{"a":[1,2'] },
  { name: 'is JSON behind a mark of its order of bytes', body: [Buffer.from('efbbbf7b7d', 'hex')] },
  {
    name: 'is JSON in UTF-16',
    headers: ['content-type: application/json; charset=utf-16'],
    body: [Buffer.from(JSON_TEXT, 'utf16le')],
  },
  { name: 'is not UTF-8', body: [Buffer.from('7b2261223a22fffe80227d', 'hex')] },
  { name: 'has half of a character', body: ['{"a":"\\ud800"}'] },
  { name: 'is a number', body: ['1'.repeat(100_000)] },
  { name: 'is null', body: ['null'] },
  { name: 'is a deep list', body: [nested('[', 50_000, ']')] },
  { name: 'is a deep object', body: [`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`] },
  {
    name: 'has names that objects have',
    body: ['{"__proto__":{"x":1},"constructor":{"prototype":{"x":1}},"toString":1,"then":1}'],
  },
  { name: 'has names twice', body: ['{"ok":1,"ok":2,"ok":3}'] },
  { name: 'has many names', body: [`{${Array.from({ length: 20_000 }, (_, at) => `"k${at}":0`).join()}}`] },
  { name: 'is one long text', body: [`"${'x'.repeat(MB)}"`] },
  { name: 'claims to be multipart', headers: ['content-type: multipart/form-data; boundary='], body: ['--\r\n'] },
  {
    name: 'claims to be a stream of events',
    headers: ['content-type: text/event-stream'],
    body: ['data: {"jsonrpc":"2.0"}\n\n'.repeat(50)],
  },
  {
    name: 'sends a JSON-RPC response without a request',
    body: ['{"jsonrpc":"2.0","id":"other","result":{"tools":"none"}}'],
  },
  { name: 'answers a list of JSON-RPC', body: ['[{"jsonrpc":"2.0","id":0,"error":{"code":"x","message":7}}]'] },
  {
    name: 'looks like a token answer of wrong types',
    body: ['{"access_token":{"a":1},"token_type":7,"expires_in":"1e309","refresh_token":[]}'],
  },
  {
    name: 'looks like a token answer with control characters',
    body: ['{"access_token":"a\\r\\nX-Evil: 1","token_type":"bearer"}'],
  },
  {
    name: 'looks like metadata that lies',
    body: ['{"issuer":"https://evil.example","token_endpoint":"javascript:1","jwks_uri":7}'],
  },
  { name: 'looks like keys that are none', body: ['{"keys":[{"kty":"RSA","n":"AA","e":"AA","kid":{}},7,null]}'] },
];

const ECHOES: Shape[] = [
  { name: 'echoes the credential', body: (secret) => [JSON.stringify({ seen: secret, [secret]: [secret] })] },
  {
    name: 'echoes the credential as text',
    headers: ['content-type: text/plain'],
    body: (secret) => [`you sent ${secret}!`],
  },
  {
    name: 'echoes the credential with an error',
    start: 'HTTP/1.1 400 Bad',
    body: (secret) => [JSON.stringify({ error: secret, error_description: secret })],
  },
  {
    name: 'echoes the credential encoded',
    body: (secret) => [JSON.stringify({ b: Buffer.from(secret).toString('base64'), u: encodeURIComponent(secret) })],
  },
  {
    name: 'echoes the credential and is lost',
    headers: ['content-length: 1000'],
    body: (secret) => [`{"seen":"${secret}`],
    end: 'reset',
  },
];

/** The messages that a third party may send. Each is sent to every place that reads bytes of third parties. */
export const SHAPES: readonly Shape[] = [
  ...CONNECTIONS,
  ...START_LINES,
  ...HEADERS,
  ...FRAMING,
  ...AMOUNTS,
  ...STATUSES,
  ...CONTENTS,
  ...ECHOES,
];
