import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { untestedOperations } from '../../scripts/check-operation-tests.ts';
import { ROOT } from '../flows/markdown.ts';
import { tempDir } from '../support/temp-dir.ts';
import { contract } from './contract.ts';

describe('the test files of operations', () => {
  it('exist for every operation of the contract', () => {
    expect(untestedOperations(ROOT, contract)).to.deep.equal([]);
  });

  it('are required for a new operation', () => {
    const folder = tempDir();
    const added = {
      paths: { '/a': { get: { operationId: 'getA' }, put: { operationId: 'putA' } } },
    };
    mkdirSync(join(folder.path, 'test/operations'), { recursive: true });
    writeFileSync(join(folder.path, 'test/operations/getA.test.ts'), '');
    const missing =
      'the operation putA has no tests: add test/operations/putA.test.ts, with one describe for each status';
    expect(untestedOperations(folder.path, added)).to.deep.equal([missing]);
    folder.remove();
  });
});
