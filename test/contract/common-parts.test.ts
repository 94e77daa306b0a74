import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { bundleSpec } from '../../scripts/bundle.ts';
import { readCommonParts } from '../../scripts/common-parts.ts';
import type { JsonObject } from '../../scripts/openapi-document.ts';
import { objectAt, operationsOf } from '../../scripts/openapi-document.ts';

const FILES: Record<string, string> = {
  'root.yaml': 'openapi: 3.1.1\ninfo: { title: x, version: "1" }\npaths:\n  /a: { $ref: paths/a.yaml#/a }\n',
  'headers.yaml':
    'Id: { schema: { type: string } }\nLimit: { schema: { type: string } }\nReplayed: { schema: { type: string } }\n',
  'parameters.yaml':
    'Key: { name: Key, in: header, schema: { type: string } }\nPage: { name: page, in: query, schema: { type: string } }\n',
  'responses.yaml':
    'Bad: { description: bad }\nUnknown: { description: unknown, headers: { Limit: null } }\nConflict: { description: conflict }\n',
  'common.yaml': `
everyOperation:
  headers: { Id: { $ref: headers.yaml#/Id } }
  responses: { "400": { $ref: responses.yaml#/Bad } }
environmentOperations:
  headers: { Limit: { $ref: headers.yaml#/Limit } }
  responses: { "421": { $ref: responses.yaml#/Unknown } }
idempotentOperations:
  parameters: [{ $ref: parameters.yaml#/Key }]
  headers: { Replayed: { $ref: headers.yaml#/Replayed } }
  responses: { "409": { $ref: responses.yaml#/Conflict } }
sharedResponses:
  headers: { Id: { $ref: headers.yaml#/Id }, Limit: { $ref: headers.yaml#/Limit } }
`,
  'paths/a.yaml': `
a:
  get: { operationId: getA, tags: [A], security: [{ oauth2: [a] }], responses: { "200": { description: ok } } }
  post:
    operationId: postA
    tags: [A]
    security: [{ oauth2: [a] }]
    parameters: [{ $ref: ../parameters.yaml#/Page }]
    responses:
      "200": { description: ok, headers: { Own: { $ref: ../headers.yaml#/Id } } }
      "400": { description: own }
      "421": null
  put: { operationId: putA, tags: [Service], security: [], responses: { "200": { description: ok } } }
`,
};

describe('common parts of operations', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'common-'));
    await mkdir(join(folder, 'paths'));
  });

  afterEach(() => rm(folder, { recursive: true }));

  async function bundled(changes: Record<string, string> = {}): Promise<JsonObject> {
    for (const [name, text] of Object.entries({ ...FILES, ...changes })) await writeFile(join(folder, name), text);
    return bundleSpec(join(folder, 'root.yaml'));
  }

  async function operation(id: string): Promise<JsonObject> {
    const found = operationsOf(await bundled()).find((candidate) => candidate.id === id);
    return found?.definition as JsonObject;
  }

  async function failureOf(changes: Record<string, string>): Promise<string> {
    return bundled(changes).then(
      () => '',
      (error: Error) => error.message.replaceAll(/\S*common-\w+\//g, ''),
    );
  }

  const header = (name: string) => ({ $ref: `#/components/headers/${name}` });
  const response = (name: string) => ({ $ref: `#/components/responses/${name}` });

  it('adds the headers and responses of the groups that an operation belongs to', async () => {
    const { responses, parameters } = await operation('getA');
    expect(parameters).to.equal(undefined);
    expect(responses).to.deep.equal({
      '200': { description: 'ok', headers: { Id: header('Id'), Limit: header('Limit') } },
      '400': response('Bad'),
      '421': response('Unknown'),
    });
  });

  it('keeps what an operation declares itself, and removes what it declares as null', async () => {
    const { responses, parameters } = await operation('postA');
    expect(parameters).to.deep.equal(['Page', 'Key'].map((name) => ({ $ref: `#/components/parameters/${name}` })));
    expect(Object.keys(responses as JsonObject)).to.deep.equal(['200', '400', '409']);
    expect(Object.keys(objectAt(objectAt(responses as JsonObject, '200'), 'headers'))).to.have.members([
      'Id',
      'Limit',
      'Replayed',
      'Own',
    ]);
    expect(objectAt(responses as JsonObject, '400')['description']).to.equal('own');
  });

  it('adds no parts of an environment to operations that belong to no environment', async () => {
    expect((await operation('putA'))['responses']).to.deep.equal({
      '200': { description: 'ok', headers: { Id: header('Id') } },
      '400': response('Bad'),
    });
  });

  it('adds headers to shared responses, except those that a response removes', async () => {
    const responses = objectAt(objectAt(await bundled(), 'components'), 'responses');
    expect(responses).to.deep.equal({
      Bad: { description: 'bad', headers: { Id: header('Id'), Limit: header('Limit') } },
      Conflict: { description: 'conflict', headers: { Id: header('Id'), Limit: header('Limit') } },
      Unknown: { description: 'unknown', headers: { Id: header('Id') } },
    });
  });

  it('adds the tags, the security and the responses of webhooks, except those that a webhook declares as null', async () => {
    const group = '{ tags: [Events], security: [], responses: { "204": { description: taken } } }';
    await writeFile(join(folder, 'common.yaml'), `everyWebhook: ${group}\n`);
    const complete = readCommonParts(join(folder, 'root.yaml'));
    const completed = complete(join(folder, 'webhooks/a.yaml'), {
      created: { post: { summary: 'Created' } },
      deleted: { post: { summary: 'Deleted', responses: { '204': null, '200': { description: 'ok' } } } },
    });
    const common = { tags: ['Events'], security: [] };
    expect(completed['created']).to.deep.equal({
      post: { ...common, summary: 'Created', responses: { '204': { description: 'taken' } } },
    });
    const { responses } = objectAt(objectAt(completed, 'deleted'), 'post');
    expect(Object.keys(responses as JsonObject)).to.deep.equal(['200']);
  });

  it('reports file, line, column and the nearest name for a dangling reference in common.yaml', async () => {
    const common = `${FILES['common.yaml']}`.replace('responses.yaml#/Bad', 'responses.yaml#/Badd');
    expect(await failureOf({ 'common.yaml': common })).to.match(
      /^common\.yaml:4:\d+: cannot resolve responses\.yaml#\/Badd; did you mean Bad\?$/,
    );
  });

  it('reports file, line and column of a group that does not exist', async () => {
    const common = 'everyOperation: {}\nsomeOperations: {}\n';
    expect(await failureOf({ 'common.yaml': common })).to.match(
      /^common\.yaml:2:1: unknown group someOperations \(allowed: everyOperation, /,
    );
  });

  it('reports file, line and column of a file that is not YAML, once', async () => {
    const isNoYaml = 'a:\n  b: c: d\n';
    for (const name of ['common.yaml', 'paths/a.yaml', 'root.yaml', 'headers.yaml']) {
      expect(await failureOf({ [name]: isNoYaml }), name).to.equal(`${name}:2:7: bad indentation of a mapping entry`);
    }
  });
});
