import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { bundleSpec } from '../../scripts/bundle.ts';

describe('bundling', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'contract-'));
  });

  afterEach(() => rm(folder, { recursive: true }));

  /** Returns a contract whose two responses come from two files. */
  async function bundled(files: Record<string, string>) {
    const answer = (reference: string) => ({
      description: 'x',
      content: { 'application/json': { schema: { $ref: reference } } },
    });
    const responses = { '200': answer('one.yaml#/Thing'), '404': answer('two.yaml#/Thing') };
    const root = { openapi: '3.1.1', info: { title: 'x', version: '1' }, paths: { '/a': { get: { responses } } } };
    for (const [name, text] of Object.entries({ ...files, 'root.yaml': JSON.stringify(root) })) {
      await writeFile(join(folder, name), text);
    }
    return bundleSpec(join(folder, 'root.yaml'));
  }

  async function failureOf(files: Record<string, string>): Promise<string> {
    return bundled(files).then(
      () => '',
      (error: Error) => error.message,
    );
  }

  it('creates one component for two identical definitions in different files', async () => {
    const document = await bundled({ 'one.yaml': 'Thing: { type: object }', 'two.yaml': 'Thing: { type: object }' });
    expect(document['components']).to.deep.equal({ schemas: { Thing: { type: 'object' } } });
  });

  it('rejects two different definitions of one name, and names both places', async () => {
    const files = { 'one.yaml': 'Thing: { type: string }', 'two.yaml': 'Thing: { type: integer }' };
    expect(await failureOf(files)).to.match(/one\.yaml:1:1: Thing is defined differently in \S*two\.yaml:1:1$/);
  });

  it('rejects a dangling reference', async () => {
    const files = { 'one.yaml': 'Thing: { type: string }', 'two.yaml': 'Other: { type: string }' };
    expect(await failureOf(files)).to.match(/root\.yaml:1:\d+: cannot resolve two\.yaml#\/Thing$/);
  });

  it('reports each problem in one line with the file, the line and the nearest name', async () => {
    const files = { 'one.yaml': 'Thinq: { type: string }', 'two.yml': 'Thing: { type: string }' };
    const lines = (await failureOf(files)).split('\n');
    expect(lines).to.have.length(2);
    expect(lines[0]).to.match(/root\.yaml:1:\d+: cannot resolve one\.yaml#\/Thing; did you mean Thinq\?$/);
    expect(lines[1]).to.match(/root\.yaml:1:\d+: cannot resolve two\.yaml#\/Thing; did you mean two\.yml\?$/);
  });
});
