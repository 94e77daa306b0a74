import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Secret } from '../../../core/secret.ts';
import { VaultError } from '../../../core/vault/errors.ts';
import { addKey, createKeyFile } from '../../../core/vault/key-file-edit.ts';
import { KeyFileSource, type KeyReload } from '../../../core/vault/key-source.ts';
import { codeOf, keyLine, withDirectory } from './support.ts';

const A = 'kek_aaaaaaaa';
const B = 'kek_bbbbbbbb';

interface Scene {
  path: string;
  source: KeyFileSource;
  reports: string[];
  clock: { time: number };
}

function inScene(run: (scene: Scene) => void): void {
  withDirectory((directory) => {
    const path = join(directory, 'keys');
    createKeyFile(path, new Secret(keyLine(A)));
    const clock = { time: 1_000_000 };
    const reports: string[] = [];
    const source = new KeyFileSource(
      path,
      () => clock.time,
      (reload) => reports.push(describeReload(reload)),
    );
    run({ path, source, reports, clock });
  });
}

function describeReload(reload: KeyReload): string {
  if (reload.outcome === 'reloaded') return `reloaded ${reload.ring.active.id}`;
  return `refused ${reload.error instanceof VaultError ? reload.error.code : reload.error}`;
}

function rotate(path: string): void {
  addKey(path, new Secret(keyLine(B)));
}

describe('a key file that is watched while the server runs', () => {
  it('is read at most once in 250 ms', () => {
    inScene(({ path, source, clock }) => {
      rotate(path);
      clock.time += 249;
      expect(source.current().active.id).to.equal(A);
      clock.time += 1;
      expect(source.current().active.id).to.equal(B);
    });
  });

  it('is read again when a key is unknown', () => {
    inScene(({ path, source, reports }) => {
      expect(source.find(B)).to.equal(undefined);
      rotate(path);
      expect(source.find(B)?.id).to.equal(B);
      expect(source.find(A)?.id).to.equal(A);
      expect(source.current().active.id).to.equal(B);
      expect(reports).to.deep.equal([`reloaded ${B}`]);
    });
  });

  it('is read again after the clock was set back', () => {
    inScene(({ path, source, clock }) => {
      rotate(path);
      clock.time -= 3_600_000;
      expect(source.current().active.id).to.equal(B);
    });
  });

  it('is not read again while it does not change', () => {
    inScene(({ source, reports, clock }) => {
      const ring = source.current();
      clock.time += 10_000;
      expect(source.current()).to.equal(ring);
      expect(reports).to.deep.equal([]);
    });
  });

  it('is ignored when it is invalid, with one log line, and is used again when repaired', () => {
    inScene(({ path, source, reports, clock }) => {
      rotate(path);
      chmodSync(path, 0o644);
      for (let look = 0; look < 3; look++) {
        clock.time += 250;
        expect(source.current().active.id).to.equal(A);
      }
      expect(reports).to.deep.equal(['refused KEY_FILE_PERMISSIONS']);
      chmodSync(path, 0o600);
      clock.time += 250;
      expect(source.current().active.id).to.equal(B);
      expect(reports).to.deep.equal(['refused KEY_FILE_PERMISSIONS', `reloaded ${B}`]);
    });
  });

  it('may disappear: the last ring remains in use', () => {
    inScene(({ path, source, reports, clock }) => {
      rmSync(path);
      for (let look = 0; look < 3; look++) {
        clock.time += 250;
        expect(source.current().active.id).to.equal(A);
      }
      expect(reports).to.deep.equal(['refused NO_KEY']);
    });
  });

  it('is refused when an id refers to another key than before', () => {
    inScene(({ path, source, reports, clock }) => {
      const before = source.current();
      writeFileSync(`${path}.other`, `${keyLine(B)}\n${keyLine(A, 'another key')}\n`, { mode: 0o600 });
      renameSync(`${path}.other`, path);
      clock.time += 250;
      expect(source.current()).to.equal(before);
      expect(reports).to.deep.equal(['refused KEY_CHECK_FAILED']);
    });
  });

  it('must be valid at the start (S12)', () => {
    withDirectory((directory) => {
      const path = join(directory, 'keys');
      expect(codeOf(() => new KeyFileSource(path, () => 0))).to.equal('NO_KEY');
      writeFileSync(path, '# empty\n', { mode: 0o600 });
      expect(codeOf(() => new KeyFileSource(path, () => 0))).to.equal('NO_KEY');
    });
  });
});
