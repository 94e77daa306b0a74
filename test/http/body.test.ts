import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { REQUEST_BODY } from '../../core/budgets.ts';
import { openRaw } from '../support/raw-http.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/connections';

describe('request bodies', () => {
  let server: TestServer;

  const post = (body: string | Buffer, headers: Record<string, string> = {}) =>
    server.call('POST', PATH, { body, headers: { 'content-type': 'application/json', ...headers } });
  const padded = (bytes: number) => {
    const body = '{"connector":""}';
    return body.replace('""', `"${'x'.repeat(bytes - body.length)}"`);
  };

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  describe('are read up to 256 KiB (S1)', () => {
    it('and validated at that size', async () => {
      const answer = await post(padded(REQUEST_BODY.bytes));
      expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
    });

    it('and rejected with one byte more', async () => {
      const answer = await post(padded(REQUEST_BODY.bytes + 1));
      expect(answer.body).to.include({ status: 413, code: 'BODY_TOO_LARGE' });
    });

    it('also without a Content-Length', async () => {
      const raw = await openRaw(server.origin);
      raw.send(
        `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.token('connections:write')}\r\n` +
          'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
      );
      const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
      for (let sent = 0; sent < 5; sent++) raw.send(chunk);
      expect(await raw.until('BODY_TOO_LARGE')).to.match(/^HTTP\/1\.1 413 /);
      raw.destroy();
    });

    it('M8: and by the token endpoint up to 16 KiB and 20 parameters, with OAuth errors', async () => {
      const form = (body: string) =>
        server.call('POST', '/oauth/token', {
          token: null,
          body,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        });
      const sized = (bytes: number) => `other=${'x'.repeat(bytes - 'other='.length)}`;
      const many = (count: number) => Array.from({ length: count }, (_, at) => `p${at}=%41`).join('&');
      const answers = [];
      for (const body of [
        sized(REQUEST_BODY.tokenBytes),
        sized(REQUEST_BODY.tokenBytes + 1),
        many(REQUEST_BODY.tokenPairs),
        many(REQUEST_BODY.tokenPairs + 1),
      ]) {
        answers.push(await form(body));
      }
      expect(answers.map(({ status, body }) => [status, body.error])).to.deep.equal([
        [401, 'invalid_client'],
        [413, 'invalid_request'],
        [401, 'invalid_client'],
        [400, 'invalid_request'],
      ]);
      expect(answers[3]?.body.error_description).to.equal('The body has more than 20 parameters.');
    });

    it('M8: accepts forms in a limited number of pieces', async () => {
      const send = async (path: string, pieces: number) => {
        const raw = await openRaw(server.origin);
        raw.send(
          `POST ${path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n` +
            'Content-Type: application/x-www-form-urlencoded\r\n\r\n',
        );
        raw.send(`${'1\r\nx\r\n'.repeat(pieces)}0\r\n\r\n`);
        const status = /^HTTP\/1\.1 (\d+) /.exec(await raw.until('\r\n\r\n'))?.[1];
        raw.destroy();
        return status;
      };
      const { formChunks } = REQUEST_BODY;
      expect(await send('/oauth/token', formChunks)).to.equal('401');
      expect(await send('/oauth/token', formChunks + 1)).to.equal('400');
    });
  });

  describe('must have a supported media type', () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json-patch+json',
      'application/problem+json',
      'application/jsonx',
      'application/json, text/plain',
      'application/json; charset=latin1',
      'application/json; charset=utf-16',
      '',
    ]) {
      it(`415 for ${type || 'no type'}`, async () => {
        const answer = await post('{"connector":"github"}', { 'content-type': type });
        expect(answer.body).to.include({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
      });
    }

    for (const type of [
      'application/json',
      'APPLICATION/JSON',
      'application/json;charset=utf-8',
      'application/json; charset="UTF-8"; x=y',
    ]) {
      it(`accepts ${type}`, async () => {
        expect((await post('{}', { 'content-type': type })).body.code).to.equal('VALIDATION_FAILED');
      });
    }

    for (const coding of ['gzip', 'br', 'deflate', 'x-unknown', 'gzip, identity']) {
      it(`415 for the content coding ${coding} (S1)`, async () => {
        const answer = await post(gzipSync('{"connector":"github"}'), { 'content-encoding': coding });
        expect(answer.body).to.include({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
      });
    }
  });

  describe('must be one JSON value', () => {
    for (const [what, body] of [
      ['half of one', '{"connector":'],
      ['two of them', '{}{}'],
      ['a duplicate key', '{"connector":"github","connector":"slack"}'],
      ['250,000 brackets', '['.repeat(250_000)],
      ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
      ['only white space', '  \n'],
    ] as [string, string | Buffer][]) {
      it(`400 MALFORMED_BODY for ${what}`, async () => {
        expect((await post(body)).body).to.include({ status: 400, code: 'MALFORMED_BODY' });
      });
    }

    for (const [what, body] of [
      ['nothing at all', ''],
      ['a list', '[]'],
      ['null', 'null'],
      ['a text', '"github"'],
      ['a name of the prototype', '{"connector":"github","__proto__":{"status":"COMPLETED"}}'],
    ]) {
      it(`400 VALIDATION_FAILED for ${what}`, async () => {
        const answer = await post(body as string);
        expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(({} as Record<string, unknown>)['status']).to.equal(undefined);
      });
    }
  });

  it('are not read for a caller without permission', async () => {
    const answer = await server.call('POST', PATH, {
      token: null,
      body: '{"broken',
      headers: { 'content-type': 'text/plain' },
    });
    expect(answer.status).to.equal(401);
    const weak = await server.call('POST', PATH, { token: server.token('tools:read'), body: '{"broken' });
    expect(weak.status).to.equal(403);
  });
});
