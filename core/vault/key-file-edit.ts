import {
  closeSync,
  existsSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Secret } from '../secret.ts';
import { VaultError } from './errors.ts';
import { readKeyFile } from './key-file.ts';
import { parseKeyRing } from './key-ring.ts';

const HEADER = `# Key-encryption keys of this Valetkey deployment. The first key is the active one.
# Without this file the stored credentials are lost: keep a copy, apart from the backups of the database.
`;

/**
 * Writes a new key file, mode 0600. The file appears complete or not at all, and never replaces another file. Each
 * start uses its own draft file, and removes the drafts of interrupted starts.
 *
 * @param line from `generateKey`
 * @throws VaultError `KEY_FILE_EXISTS`
 */
export function createKeyFile(path: string, line: Secret): void {
  const text = line.reveal();
  const [id] = text.split(':');
  withDraft(path, `${path}.${id}.first`, (draft) => {
    draft.write(`${HEADER}${text}\n`);
    draft.linkTo(path);
  });
  // A draft can be deleted, because nothing was encrypted with a key that did not become the key file.
  for (const name of readdirSync(dirname(path))) {
    if (isFirstDraft(name, basename(path))) rmSync(join(dirname(path), name), { force: true });
  }
}

function isFirstDraft(name: string, file: string): boolean {
  return name.startsWith(`${file}.`) && /^\.kek_\w+\.first$/.test(name.slice(file.length));
}

/**
 * Adds a key as the new active one. Running servers load it automatically.
 *
 * @param line from `generateKey`
 * @throws VaultError as `readKeyFile` and `parseKeyRing`, `KEY_FILE_BUSY`
 */
export function addKey(path: string, line: Secret): void {
  replaceKeyFile(path, (lines) => {
    const firstKey = lines.findIndex(isKeyLine);
    return lines.toSpliced(firstKey, 0, line.reveal());
  });
}

/**
 * Adds a key that decrypts, but does not encrypt yet.
 *
 * @param line from `generateKey`
 * @throws VaultError as `addKey`
 */
export function addStandbyKey(path: string, line: Secret): void {
  replaceKeyFile(path, (lines) => lines.toSpliced(lines.findLastIndex(isKeyLine) + 1, 0, line.reveal()));
}

/**
 * Makes a key of the file the active one.
 *
 * @throws VaultError `UNKNOWN_KEY`, and as `addKey`
 */
export function activateKey(path: string, id: string): void {
  replaceKeyFile(path, (lines) => {
    const place = lines.findIndex((line) => line.trim().startsWith(`${id}:`));
    if (place < 0) throw new VaultError('UNKNOWN_KEY', `${path} has no key ${id}`);
    const [line = ''] = lines.splice(place, 1);
    return lines.toSpliced(lines.findIndex(isKeyLine), 0, line);
  });
}

/**
 * Removes a key that is not the active one. Data that is still encrypted under it is lost; see `retireKey`.
 *
 * @throws VaultError `UNKNOWN_KEY`, `KEY_IN_USE` for the active key, and as `readKeyFile` and `parseKeyRing`,
 * `KEY_FILE_BUSY`
 */
export function removeKey(path: string, id: string): void {
  replaceKeyFile(path, (lines) => {
    const ring = parseKeyRing(lines.join('\n'), path);
    if (ring.get(id) === undefined) throw new VaultError('UNKNOWN_KEY', `${path} has no key ${id}`);
    if (ring.active.id === id)
      throw new VaultError('KEY_IN_USE', `${id} is the active key: run \`valetkey keys rotate\` first`);
    return lines.filter((line) => !line.trim().startsWith(`${id}:`));
  });
}

function isKeyLine(line: string): boolean {
  return line.trim().startsWith('kek_');
}

function replaceKeyFile(path: string, edit: (lines: string[]) => string[]): void {
  // An orchestrator mounts a secret as a symbolic link, so the target of the link is changed, not the link.
  const target = realFile(path);
  withDraft(target, `${target}.new`, (draft) => {
    const before = readKeyFile(target);
    parseKeyRing(before.text, path);
    const after = edit(before.text.split('\n')).join('\n');
    parseKeyRing(after, path);
    draft.giveTo(before.uid, before.gid);
    draft.write(after);
    draft.moveTo(target);
  });
}

function realFile(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // `readKeyFile` fails for this path too, and reports the reason.
  }
}

/**
 * Prepares the new content in a draft next to the file, and fails if the draft already exists. Changes of an existing
 * file use a fixed draft name, so the draft is also their lock: of two concurrent changes one is rejected, and no key
 * is lost.
 */
function withDraft(path: string, draftPath: string, publish: (draft: Draft) => void): void {
  const draft = new Draft(draftPath);
  try {
    publish(draft);
  } finally {
    draft.close();
  }
  syncDirectory(dirname(path));
}

class Draft {
  readonly #path: string;
  readonly #fd: number;
  #moved = false;

  constructor(path: string) {
    this.#fd = openDraft(path);
    this.#path = path;
  }

  /** Sets the owner, so that the server can still read the file after a change by an administrator. */
  giveTo(uid: number, gid: number): void {
    if (fstatSync(this.#fd).uid !== uid) fchownSync(this.#fd, uid, gid);
  }

  write(text: string): void {
    writeFileSync(this.#fd, text);
    fsyncSync(this.#fd);
  }

  moveTo(path: string): void {
    renameSync(this.#path, path);
    this.#moved = true;
  }

  /** Publishes the draft by a link, which, unlike a rename, fails if the target exists. */
  linkTo(path: string): void {
    try {
      linkSync(this.#path, path);
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      // ENOENT means that another process has created the file and removed the drafts.
      if (code !== 'EEXIST' && !(code === 'ENOENT' && existsSync(path))) throw cause;
      throw new VaultError('KEY_FILE_EXISTS', `The key file ${path} already exists`, cause);
    }
  }

  close(): void {
    closeSync(this.#fd);
    // After the rename, a draft with this name belongs to another process.
    if (!this.#moved) rmSync(this.#path, { force: true });
  }
}

function openDraft(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    const advice = 'Another change is running or was interrupted. If none is running, remove this file';
    throw new VaultError('KEY_FILE_BUSY', `${path} exists. ${advice}`, cause);
  }
}

/** Makes a rename durable, which requires a sync of the directory. */
function syncDirectory(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
