import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { checkKeyFile, readKeyFile } from '../../../core/vault/key-file.ts';
import { failureOf, keyLine, withDirectory } from './support.ts';

const TEXT = `${keyLine('kek_aaaaaaaa')}\n`;

function withFile(mode: number, run: (path: string) => void): void {
  withDirectory((directory) => {
    const path = join(directory, 'keys');
    writeFileSync(path, TEXT);
    chmodSync(path, mode);
    run(path);
  });
}

describe('the key file', () => {
  for (const mode of [0o600, 0o400]) {
    it(`is read with mode ${mode.toString(8)}`, () => {
      withFile(mode, (path) => expect(readKeyFile(path).text).to.equal(TEXT));
    });
  }

  for (const mode of [0o640, 0o620, 0o610, 0o604, 0o602, 0o601, 0o644, 0o666, 0o777]) {
    it(`is refused with mode ${mode.toString(8)}, which the message shows`, () => {
      withFile(mode, (path) => {
        const failure = failureOf(() => readKeyFile(path));
        expect(failure.code).to.equal('KEY_FILE_PERMISSIONS');
        expect(failure.message)
          .to.include(`mode 0${mode.toString(8)}`)
          .and.include(`chmod 600 ${path}`);
      });
    });
  }

  it('may be readable for the group if it belongs to root and the server does not run as root', () => {
    const allowed = (mode: number, { owner, user }: { owner: bigint; user: number }) => {
      const stat = { mode: BigInt(mode), size: 100n, uid: owner, isFile: () => true };
      try {
        checkKeyFile('keys', stat, user);
        return true;
      } catch {
        return false;
      }
    };
    expect(allowed(0o440, { owner: 0n, user: 65532 })).to.equal(true);
    expect(allowed(0o440, { owner: 0n, user: 0 })).to.equal(false);
    expect(allowed(0o440, { owner: 65532n, user: 65532 })).to.equal(false);
    for (const mode of [0o460, 0o450, 0o444]) expect(allowed(mode, { owner: 0n, user: 65532 })).to.equal(false);
  });

  it('is checked at the target of a symbolic link', () => {
    withFile(0o644, (path) => {
      symlinkSync(path, `${path}.link`);
      expect(failureOf(() => readKeyFile(`${path}.link`)).code).to.equal('KEY_FILE_PERMISSIONS');
      chmodSync(path, 0o600);
      expect(readKeyFile(`${path}.link`).text).to.equal(TEXT);
    });
  });

  it('must exist (S12)', () => {
    withDirectory((directory) => {
      const failure = failureOf(() => readKeyFile(join(directory, 'keys')));
      expect(failure.code).to.equal('NO_KEY');
      expect(failure.message).to.include('does not exist');
    });
  });

  it('must be an ordinary file of a reasonable size', () => {
    withDirectory((directory) => {
      mkdirSync(join(directory, 'folder'), { mode: 0o700 });
      writeFileSync(join(directory, 'huge'), Buffer.alloc(65_537, '#'), { mode: 0o600 });
      for (const name of ['folder', 'huge']) {
        expect(failureOf(() => readKeyFile(join(directory, name))).code, name).to.equal('KEY_FORMAT');
      }
    });
  });

  it('keeps its identity until it is changed', () => {
    withFile(0o600, (path) => {
      const before = readKeyFile(path).identity;
      expect(readKeyFile(path).identity).to.equal(before);
      writeFileSync(path, `# longer\n${TEXT}`);
      expect(readKeyFile(path).identity).to.not.equal(before);
    });
  });
});
