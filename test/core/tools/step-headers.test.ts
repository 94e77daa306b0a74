import { expect } from 'chai';
import { listedHeaders } from '../../../core/tools/step-headers.ts';

const STEP = {
  take: {},
  method: 'PUT' as const,
  address: 'url',
  hosts: ['storage.example'],
  headers_from: { list: '/upload/headers', name: '/key', value: '/value' },
};
const given = (headers: unknown) => listedHeaders(STEP, { upload: { headers } });
const header = (key: unknown, value: unknown) => ({ key, value });

describe('Headers that a response lists for the next request', () => {
  it('are none for a step that takes none', () => {
    const { headers_from: _from, ...step } = STEP;
    expect(listedHeaders(step, { upload: { headers: [header('x-a', '1')] } })).to.deep.equal({});
  });

  it('are taken by their names in lower case', () => {
    const headers = given([header('X-Goog-Content-Length-Range', '5,5'), header('Content-Type', ' text/plain ')]);
    expect(headers).to.deep.equal({ 'x-goog-content-length-range': '5,5', 'content-type': 'text/plain' });
    expect(given([])).to.deep.equal({});
  });

  it('are refused if they would identify the sender or frame the message', () => {
    for (const name of [
      'Authorization',
      'Cookie',
      'Host',
      'Content-Length',
      'Transfer-Encoding',
      'X-Forwarded-For',
      'a b',
      '',
    ]) {
      expect(given([header('x-a', '1'), header(name, 'x')]), name).to.equal(
        'The response of the provider lists a header at /upload/headers/1 that must not be set.',
      );
    }
  });

  it('are refused with a value that could start another header', () => {
    for (const value of ['a\r\nauthorization: x', 'a\nb', 'ü', '\0']) {
      const message =
        "The header at /upload/headers/0 of the provider's response must have only visible ASCII characters.";
      expect(given([header('x-a', value)])).to.equal(message);
    }
  });

  it('are refused if the list or an entry is missing or has another type', () => {
    for (const list of [undefined, null, 'x-a: 1', { 0: header('x-a', '1') }]) {
      expect(given(list)).to.include('has no list /upload/headers');
    }
    for (const entry of [null, 'x-a', {}, header('x-a', 1), header(null, '1')]) {
      expect(given([entry])).to.include('has no header at /upload/headers/0');
    }
  });

  it('are limited in number and size', () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => header(`x-${index}`, '1'));
    expect(given(many(20))).to.be.an('object');
    expect(given(many(21))).to.equal('The response of the provider lists more than 20 headers.');
    expect(given([header('x-a', 'a'.repeat(8_189))])).to.be.an('object');
    expect(given([header('x-a', 'a'.repeat(8_190))])).to.include('headers of more than 8192 characters');
  });
});
