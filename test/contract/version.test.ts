import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { programVersion } from '../../core/program-version.ts';
import { objectAt } from '../../scripts/openapi-document.ts';
import { runCommand } from '../support/child-server.ts';
import { contract } from './contract.ts';

const read = (name: string) => readFileSync(join(import.meta.dirname, '../..', name), 'utf8');

describe('the version of the program', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };

  it('is the same in package.json, the lock file, the contract and the changelog', () => {
    const lock = JSON.parse(read('package-lock.json'));
    const [heading] = read('CHANGELOG.md').match(/^## \d.*$/m) ?? [];
    const versions = {
      lock: lock.version,
      'root package of the lock': lock.packages[''].version,
      'spec/openapi.yaml': parse(read('spec/openapi.yaml')).info.version,
      'generated/openapi.json': objectAt(contract, 'info')['version'],
      'CHANGELOG.md': heading?.split(' ')[1],
      'the program': programVersion(),
    };
    expect(version).to.match(/^\d+\.\d+\.\d+$/);
    expect(versions).to.deep.equal(Object.fromEntries(Object.keys(versions).map((name) => [name, version])));
  });

  it('is printed by valetkey --version', async () => {
    expect(await runCommand(['--version'])).to.include({ code: 0, stdout: `${version}\n`, stderr: '' });
  });
});
