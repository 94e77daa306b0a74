import {
  chmodSync,
  chownSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Secret } from '../../../core/secret.ts';
import { readKeyFile } from '../../../core/vault/key-file.ts';
import { addKey, createKeyFile, removeKey } from '../../../core/vault/key-file-edit.ts';
import { parseKeyRing } from '../../../core/vault/key-ring.ts';
import { codeOf, failureOf, keyLine, withDirectory } from './support.ts';

const A = 'kek_aaaaaaaa';
const B = 'kek_bbbbbbbb';
const line = (id: string) => new Secret(keyLine(id));
const idsIn = (path: string) => parseKeyRing(readKeyFile(path).text, path).ids;

function withKeyFile(run: (path: string, directory: string) => void): void {
  withDirectory((directory) => {
    const path = join(directory, 'keys');
    createKeyFile(path, line(A));
    run(path, directory);
  });
}

describe('createKeyFile', () => {
  it('writes a file that only its owner can read, and leaves no other file', () => {
    withKeyFile((path, directory) => {
      expect(statSync(path).mode & 0o777).to.equal(0o600);
      expect(idsIn(path)).to.deep.equal([A]);
      expect(readdirSync(directory)).to.deep.equal(['keys']);
    });
  });

  it('never replaces another file', () => {
    withKeyFile((path, directory) => {
      expect(codeOf(() => createKeyFile(path, line(B)))).to.equal('KEY_FILE_EXISTS');
      expect(idsIn(path)).to.deep.equal([A]);
      expect(readdirSync(directory)).to.deep.equal(['keys']);
    });
  });
});

describe('createKeyFile after an interrupted start (F16)', () => {
  it('F16: is not blocked by drafts of earlier changes, and removes them', () => {
    withDirectory((directory) => {
      const path = join(directory, 'keys');
      for (const left of ['keys.new', `keys.${B}.first`, 'keys.kek_cccccccc.first', 'other.kek_x.first']) {
        writeFileSync(join(directory, left), 'half of a key');
      }
      createKeyFile(path, line(A));
      expect(idsIn(path)).to.deep.equal([A]);
      // Files that may be the lock of a change, or that belong to another file, are not removed.
      expect(readdirSync(directory).toSorted()).to.deep.equal(['keys', 'keys.new', 'other.kek_x.first']);
    });
  });

  it('F16: creates one file when two starts run concurrently', () => {
    withDirectory((directory) => {
      const path = join(directory, 'keys');
      createKeyFile(path, line(A));
      writeFileSync(join(directory, `keys.${B}.first`), keyLine(B));
      expect(codeOf(() => createKeyFile(path, line('kek_cccccccc')))).to.equal('KEY_FILE_EXISTS');
      expect(idsIn(path)).to.deep.equal([A]);
    });
  });
});

describe('addKey', () => {
  it('makes the new key active and keeps keys, comments and mode', () => {
    withKeyFile((path) => {
      const before = readFileSync(path, 'utf8');
      addKey(path, line(B));
      expect(idsIn(path)).to.deep.equal([B, A]);
      expect(readFileSync(path, 'utf8')).to.equal(before.replace(keyLine(A), `${keyLine(B)}\n${keyLine(A)}`));
      expect(statSync(path).mode & 0o777).to.equal(0o600);
    });
  });

  it('replaces the file by a new one and never writes into it', () => {
    withKeyFile((path) => {
      const before = statSync(path).ino;
      addKey(path, line(B));
      expect(statSync(path).ino).to.not.equal(before);
    });
  });

  it('refuses a key that exists already, and does not change the file', () => {
    withKeyFile((path, directory) => {
      const before = readFileSync(path, 'utf8');
      expect(codeOf(() => addKey(path, line(A)))).to.equal('KEY_FORMAT');
      expect(readFileSync(path, 'utf8')).to.equal(before);
      expect(readdirSync(directory)).to.deep.equal(['keys']);
    });
  });

  it('refuses a file that others can read', () => {
    withKeyFile((path) => {
      chmodSync(path, 0o644);
      expect(codeOf(() => addKey(path, line(B)))).to.equal('KEY_FILE_PERMISSIONS');
    });
  });

  it('is rejected during another change, whose draft it does not touch', () => {
    withKeyFile((path) => {
      writeFileSync(`${path}.new`, 'draft of somebody else');
      const failure = failureOf(() => addKey(path, line(B)));
      expect(failure.code).to.equal('KEY_FILE_BUSY');
      expect(failure.message).to.include(`${path}.new`);
      expect(readFileSync(`${path}.new`, 'utf8')).to.equal('draft of somebody else');
      expect(idsIn(path)).to.deep.equal([A]);
    });
  });

  it('changes the file that a symbolic link points to, not the link', () => {
    withKeyFile((path) => {
      const link = `${path}.link`;
      symlinkSync(path, link);
      addKey(link, line(B));
      expect(lstatSync(link).isSymbolicLink()).to.equal(true);
      expect(idsIn(path)).to.deep.equal([B, A]);
    });
  });

  it("keeps the owner of the file, so that the server's user can still read it", () => {
    withKeyFile((path) => {
      const ours = process.getuid?.() ?? 0;
      // Only root may change the owner of a file, and only root can read another owner's key file.
      const owner = ours === 0 ? 12_345 : ours;
      chownSync(path, owner, process.getgid?.() ?? 0);
      addKey(path, line(B));
      expect(statSync(path).uid).to.equal(owner);
    });
  });
});

describe('removeKey', () => {
  it('removes exactly one key', () => {
    withKeyFile((path) => {
      const before = readFileSync(path, 'utf8');
      addKey(path, line(B));
      removeKey(path, A);
      expect(idsIn(path)).to.deep.equal([B]);
      expect(readFileSync(path, 'utf8')).to.equal(before.replace(keyLine(A), keyLine(B)));
    });
  });

  it('refuses the active key and an unknown one', () => {
    withKeyFile((path) => {
      addKey(path, line(B));
      expect(codeOf(() => removeKey(path, B))).to.equal('KEY_IN_USE');
      expect(codeOf(() => removeKey(path, 'kek_cccccccc'))).to.equal('UNKNOWN_KEY');
      expect(idsIn(path)).to.deep.equal([B, A]);
    });
  });
});
