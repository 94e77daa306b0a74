import { expect } from 'chai';
import { errorsOf, example, takesParameter } from './contract.ts';

const ID = 'ca_01k6p3x9d8q2v7m4n5t0r1s6wz';

const creates = (fields: object) =>
  errorsOf('createConnectedAccount', 'request', { connector: 'github', identifier: 'ada', ...fields });
const isCreated = (fields: object) => creates(fields).length === 0;
const isProvider = (fields: object) =>
  errorsOf('createCustomProvider', 'request', { ...example('createApiKeyProvider'), ...fields }).length === 0;

describe('limits of the contract', () => {
  it('keep connectors to letters, digits, spaces, hyphens, underscores and colons, at most 100 (C15)', () => {
    for (const connector of ['github', 'My CRM_2:eu-west', 'a'.repeat(100)])
      expect(isCreated({ connector }), connector).to.equal(true);
    for (const connector of ['', 'a'.repeat(101), 'git.hub', 'git/hub', 'gïthub', 'git\nhub', 'github\n', 'a\u0000']) {
      expect(isCreated({ connector }), JSON.stringify(connector)).to.equal(false);
    }
  });

  it('keep names of owners to 100 characters and identifiers to 512, without control characters (C15)', () => {
    for (const [field, length] of Object.entries({ organization_id: 100, user_id: 100, identifier: 512 })) {
      expect(isCreated({ [field]: 'é'.repeat(length) }), field).to.equal(true);
      expect(isCreated({ [field]: '😀'.repeat(length) }), `${field} counts characters`).to.equal(true);
      for (const value of ['', 'a'.repeat(length + 1), 'a\tb', 'a\u0000', '\u007f', 'a\u0085b', 'a\n', 1, null]) {
        expect(isCreated({ [field]: value }), `${field} ${JSON.stringify(value)}`).to.equal(false);
      }
    }
  });

  it('take only well-formed account ids', () => {
    const named = (id: string) => errorsOf('deleteConnectedAccount', 'request', { id }).length === 0;
    expect(named(ID)).to.equal(true);
    for (const id of [
      '',
      'ca_',
      ID.slice(3),
      `${ID}0`,
      ID.replace('01', 'il'),
      ID.toUpperCase(),
      `${ID}\n`,
      `conn_${ID.slice(3)}`,
    ]) {
      expect(named(id), id).to.equal(false);
    }
  });

  it('count the metadata of a provider: keys 3 to 25, values 1 to 256, at most 20 pairs (P8)', () => {
    const takes = (key: number, value: number, pairs = 1) => {
      const entries = Array.from({ length: pairs }, (_, n) => [
        `${'k'.repeat(key - String(n).length)}${n}`,
        'v'.repeat(value),
      ]);
      return isProvider({ metadata: Object.fromEntries(entries) });
    };
    expect([takes(2, 1), takes(3, 1), takes(25, 1), takes(26, 1)]).to.deep.equal([false, true, true, false]);
    expect([takes(3, 0), takes(3, 1), takes(3, 256), takes(3, 257)]).to.deep.equal([false, true, true, false]);
    expect([takes(5, 1, 0), takes(5, 1, 20), takes(5, 1, 21)]).to.deep.equal([true, true, false]);
    expect(isProvider({ metadata: { key: 1 } })).to.equal(false);
  });

  it('restrict the addresses of a provider to https, and to http addresses that the egress policy checks later (X11)', () => {
    for (const proxy_url of ['https://api.acme.test', 'https://{{domain}}.acme.test/v2', 'http://127.0.0.1:3000']) {
      expect(isProvider({ proxy_url }), proxy_url).to.equal(true);
    }
    for (const proxy_url of [
      'ftp://api.acme.test',
      'HTTPS://api.acme.test',
      ' https://a.test',
      'https://',
      'javascript:1',
      '',
      'https://a b',
    ]) {
      expect(isProvider({ proxy_url }), proxy_url).to.equal(false);
    }
    expect(isProvider({ icon_src: '' })).to.equal(true);
    expect(isProvider({ icon_src: 'data:image/svg+xml,x' })).to.equal(false);
  });

  it('keep pages to 1 to 100 items, and page tokens to 2048 characters', () => {
    for (const id of [
      'listConnectedAccounts',
      'searchConnectedAccounts',
      'listConnections',
      'listTools',
      'listExecutions',
      'listRevocations',
      'listJobs',
      'listMcpConfigs',
      'listEvents',
      'listAuditEvents',
      'listWebhookEndpoints',
      'listWebhookDeliveries',
    ]) {
      const sizes = [0, 1, 100, 101, 1.5, '20'].map((size) => takesParameter(id, 'page_size', size));
      expect(sizes, id).to.deep.equal([false, true, true, false, false, false]);
      expect(takesParameter(id, 'page_token', 'x'.repeat(2048)), id).to.equal(true);
      expect(takesParameter(id, 'page_token', 'x'.repeat(2049)), id).to.equal(false);
    }
  });

  it('keep idempotency keys to 255 visible ASCII characters', () => {
    const takes = (key: string) => takesParameter('executeTool', 'Idempotency-Key', key);
    expect(['a', '!~', 'x'.repeat(255)].map(takes)).to.deep.equal([true, true, true]);
    expect(['', 'a b', 'é', '\t', 'x'.repeat(256)].map(takes)).to.deep.equal([false, false, false, false, false]);
  });

  it('let the previous secret of a client be valid for at most seven days', () => {
    const takes = (overlap_seconds: unknown) =>
      errorsOf('rotateApiClientSecret', 'request', { overlap_seconds }).length === 0;
    expect([-1, 0, 604_800, 604_801, 0.5].map(takes)).to.deep.equal([false, true, true, false, false]);
  });
});
