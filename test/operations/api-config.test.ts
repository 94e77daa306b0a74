import { expect } from 'chai';
import fc from 'fast-check';
import type { JsonObject } from '../../core/accounts/merge.ts';
import { isObject, mergeConfig } from '../../core/accounts/merge.ts';
import { createAccount } from '../support/accounts.ts';
import { createConnector } from '../support/all-types.ts';
import { dumpDatabase } from '../support/database-file.ts';
import type { TestResponse, TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/connected_accounts';
const FIELD = 'connected_account.api_config';

/** Returns objects nested `levels` deep. */
function nested(levels: number, inmost: object = {}): object {
  return levels === 1 ? inmost : { a: nested(levels - 1, inmost) };
}

const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]));
/** Returns an object whose JSON has this many bytes. */
const sized = (bytes: number) => ({ k: 'x'.repeat(bytes - '{"k":""}'.length) });

describe('api_config', () => {
  let server: TestServer;
  let connector: string;

  before(async () => {
    server = await startTestServer();
    connector = await createConnector(server, [{ type: 'API_KEY' }]);
  });
  after(() => server.stop());

  const fresh = async (api_config: object = {}): Promise<string> =>
    (await createAccount(server, { connector, connectedAccount: { api_config } })).id;
  const update = (id: string, api_config: unknown): Promise<TestResponse> =>
    server.call('PUT', PATH, { body: { id, connected_account: { api_config } } });
  const stored = async (id: string) =>
    (await server.call('GET', `${PATH}/details?id=${id}`)).body.connected_account.api_config;

  describe('of an update', () => {
    const CASES: [string, object, object, object][] = [
      ['adds a key', { a: 1 }, { b: 2 }, { a: 1, b: 2 }],
      ['replaces a value', { a: 1 }, { a: 'one' }, { a: 'one' }],
      ['merges at every depth', { a: { b: { c: 1, d: 2 } } }, { a: { b: { d: 3 } } }, { a: { b: { c: 1, d: 3 } } }],
      ['removes a key by null', { a: 1, b: 2 }, { a: null }, { b: 2 }],
      ['removes a key by null at every depth', { a: { b: 1, c: 2 } }, { a: { b: null } }, { a: { c: 2 } }],
      ['takes null for a key that is not there', { a: 1 }, { b: null }, { a: 1 }],
      ['drops null from an object that is new', {}, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
      ['replaces an array as a whole', { a: [1, 2, 3] }, { a: [4] }, { a: [4] }],
      ['keeps null inside an array', { a: [1] }, { a: [null, { b: 1 }] }, { a: [null, { b: 1 }] }],
      ['replaces an array by an object', { a: [1] }, { a: { b: 1 } }, { a: { b: 1 } }],
      ['replaces an object by a value', { a: { b: 1 } }, { a: false }, { a: false }],
      ['keeps an object that an empty one is merged into', { a: { b: 1 } }, { a: {} }, { a: { b: 1 } }],
      [
        'takes keys that only look special',
        {},
        { toString: 1, '': 2, 'a.b': 3, '%_"\\': 4 },
        { toString: 1, '': 2, 'a.b': 3, '%_"\\': 4 },
      ],
      ['changes nothing by an empty object', { a: 1 }, {}, { a: 1 }],
    ];
    for (const [what, before, change, after] of CASES) {
      it(what, async () => {
        const id = await fresh(before);
        const answer = await update(id, change);
        expect(answer.body.connected_account.api_config).to.deep.equal(after);
        expect(await stored(id)).to.deep.equal(after);
      });
    }

    it('is merged as RFC 7396 says, for any two objects', () => {
      const key = fc
        .string({ maxLength: 3 })
        .filter((text) => !['__proto__', 'constructor', 'prototype'].includes(text));
      const leaf = fc.oneof(fc.constant(null), fc.boolean(), fc.integer(), fc.string({ maxLength: 5 }));
      const { value } = fc.letrec((tie) => ({
        value: fc.oneof(
          { maxDepth: 4 },
          leaf,
          fc.array(leaf, { maxLength: 3 }),
          fc.dictionary(key, tie('value'), { maxKeys: 4 }),
        ),
      }));
      const object = fc.dictionary(key, value, { maxKeys: 5 }) as fc.Arbitrary<JsonObject>;
      fc.assert(
        fc.property(object, object, (first, change) => {
          const current = mergeConfig({}, first, FIELD);
          const copies = structuredClone([current, change]);
          expect(plain(mergeConfig(current, change, FIELD))).to.deep.equal(mergePatch(plain(current), change));
          expect(plain([current, change])).to.deep.equal(plain(copies));
        }),
        { numRuns: 500 },
      );
    });
  });

  const BOUNDS: [string, object, object, string][] = [
    ['16 levels', nested(16), nested(17), FIELD + '.a'.repeat(16)],
    [
      '16 levels, arrays among them',
      { a: nested(14, { b: [1] }) },
      { a: nested(15, { b: [1] }) },
      `${FIELD}${'.a'.repeat(15)}.b`,
    ],
    ['512 keys', keys(512), keys(513), FIELD],
    ['512 keys at all depths together', { a: keys(255), b: [keys(255)] }, { a: keys(255), b: [keys(256)] }, FIELD],
    ['64 KiB', sized(65_536), sized(65_537), FIELD],
    ['64 KiB in UTF-8', { k: 'é'.repeat((65_536 - 8) / 2) }, { k: 'é'.repeat((65_536 - 8) / 2 + 1) }, FIELD],
  ];
  for (const [limit, largest, larger, field] of BOUNDS) {
    it(`has at most ${limit}, in create and in update (C9)`, async () => {
      const id = await fresh(largest);
      expect(await stored(id)).to.deep.equal(largest);
      const other = await fresh();
      expect((await update(other, largest)).status).to.equal(200);
      const before = dumpDatabase(server);
      const create = { connector, identifier: 'too-large', user_id: 'u', connected_account: { api_config: larger } };
      for (const answer of [await update(other, larger), await server.call('POST', PATH, { body: create })]) {
        expect(answer.body).to.include({ status: 400, code: 'INVALID_API_CONFIG' });
        expect(answer.body.errors[0].field).to.equal(field);
      }
      expect(dumpDatabase(server)).to.deep.equal(before);
    });
  }

  it('keeps its limits regardless of the number of updates (C9)', async () => {
    const id = await fresh(keys(500));
    const more = await update(id, Object.fromEntries(Array.from({ length: 13 }, (_, index) => [`more${index}`, 1])));
    expect(more.body.code).to.equal('INVALID_API_CONFIG');
    const deep = await fresh(nested(15));
    const deeper = nested(15, { b: { c: {} } });
    expect((await update(deep, deeper)).body.code).to.equal('INVALID_API_CONFIG');
    const large = await fresh(sized(60_000));
    expect((await update(large, { other: 'x'.repeat(6_000) })).body.code).to.equal('INVALID_API_CONFIG');
    expect((await update(large, { k: null, other: 'x'.repeat(6_000) })).status).to.equal(200);
  });

  const POLLUTIONS: [string, string][] = [
    ['{"__proto__": {"polluted": true}}', '.__proto__'],
    ['{"__proto__": null}', '.__proto__'],
    ['{"\\u005f_proto__": {"polluted": true}}', '.__proto__'],
    ['{"constructor": {"prototype": {"polluted": true}}}', '.constructor'],
    ['{"prototype": {"polluted": true}}', '.prototype'],
    ['{"a": {"b": {"__proto__": {"polluted": true}}}}', '.a.b.__proto__'],
    ['{"list": [{"deep": [{"__proto__": {"polluted": true}}]}]}', '.list[0].deep[0].__proto__'],
    ['{"good": 1, "a": {"constructor": null}}', '.a.constructor'],
  ];
  for (const [text, place] of POLLUTIONS) {
    it(`refuses ${text}, writes nothing and changes no prototype (C9)`, async () => {
      const id = await fresh({ a: { b: {} } });
      const before = dumpDatabase(server);
      const headers = { 'content-type': 'application/json' };
      const change = `{"id":"${id}","connected_account":{"api_config":${text}}}`;
      const creation = `{"connector":"${connector}","identifier":"p","user_id":"u","connected_account":{"api_config":${text}}}`;
      for (const answer of [
        await server.call('PUT', PATH, { body: change, headers }),
        await server.call('POST', PATH, { body: creation, headers }),
      ]) {
        expect(answer.body).to.include({ status: 400, code: 'INVALID_API_CONFIG' });
        const message = 'is not an allowed key: __proto__, constructor and prototype are reserved';
        expect(answer.body.errors).to.deep.equal([{ field: FIELD + place, message }]);
      }
      expect(dumpDatabase(server)).to.deep.equal(before);
      expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
      expect(Object.keys(Object.prototype)).to.deep.equal([]);
    });
  }

  it('has every key after fifty concurrent updates of different keys, also of the credentials (C11)', async () => {
    const id = await fresh({ seed: true });
    const updates = Array.from({ length: 50 }, (_, index) =>
      update(id, { [`k${index}`]: index, shared: { [`k${index}`]: index } }),
    );
    const credentials = Array.from({ length: 5 }, (_, index) =>
      server.call('PUT', PATH, {
        body: {
          id,
          connected_account: { authorization_details: { static_auth: { details: { api_key: `key-${index}` } } } },
        },
      }),
    );
    for (const { status } of await Promise.all([...updates, ...credentials])) expect(status).to.equal(200);
    const all = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, index]));
    expect(await stored(id)).to.deep.equal({ seed: true, ...all, shared: all });
    const { connected_account: account } = (await server.call('GET', `${PATH}/auth?id=${id}`)).body;
    expect(account.authorization_details.static_auth.details.api_key).to.match(/^key-[0-4]$/);
  });
});

/** Implements RFC 7396 §2 literally, for plain objects. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}
