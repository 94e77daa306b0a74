import { type BigIntStats, closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { VaultError } from './errors.ts';

const MAX_BYTES = 65_536n;
const OTHERS = 0o077n;
/** The permission bits that a key file of root must not have if another user runs the server; its group may read it. */
const OTHERS_OF_ROOT = 0o037n;

export interface KeyFileContent {
  text: string;
  /** Changes whenever the file is replaced, rewritten or gets other permissions. */
  identity: string;
  uid: number;
  gid: number;
}

/**
 * Reads a key file, which only its owner may be able to read. If the server does not run as root, a file that root owns
 * may also be readable for its group, because Kubernetes and systemd pass secrets to a process this way.
 *
 * @throws VaultError `NO_KEY` if it cannot be read, `KEY_FILE_PERMISSIONS` with the mode found, `KEY_FORMAT` if it is
 * not a small regular file
 */
export function readKeyFile(path: string): KeyFileContent {
  let fd: number;
  try {
    // Without O_NONBLOCK, a pipe at this path would block the start.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    throw unreadable(path, cause);
  }
  try {
    // The open file is checked, not the path, so that the file cannot be replaced between the check and the read.
    const stat = fstatSync(fd, { bigint: true });
    checkKeyFile(path, stat, process.geteuid?.());
    const bytes = readFileSync(fd);
    const text = bytes.toString('utf8');
    bytes.fill(0);
    return { text, identity: identityOf(stat), uid: Number(stat.uid), gid: Number(stat.gid) };
  } finally {
    closeSync(fd);
  }
}

/**
 * The current identity of the file, without reading it; `undefined` if the file does not exist or is not accessible.
 */
export function keyFileIdentity(path: string): string | undefined {
  try {
    return identityOf(statSync(path, { bigint: true }));
  } catch {
    return undefined;
  }
}

/**
 * Returns a text that identifies the version of a file. It includes ctime, because a change of permissions does not
 * change mtime.
 */
function identityOf(stat: BigIntStats): string {
  return `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`;
}

/** @param user the id of the user that the process acts as */
export function checkKeyFile(
  path: string,
  stat: Pick<BigIntStats, 'mode' | 'size' | 'uid' | 'isFile'>,
  user?: number,
): void {
  if (!stat.isFile()) throw new VaultError('KEY_FORMAT', `The key file ${path} is not a regular file`);
  const forbidden = stat.uid === 0n && user !== 0 ? OTHERS_OF_ROOT : OTHERS;
  if ((stat.mode & forbidden) !== 0n) {
    const mode = (stat.mode & 0o7777n).toString(8).padStart(4, '0');
    const advice = `only its owner may have access: chmod 600 ${path}`;
    throw new VaultError('KEY_FILE_PERMISSIONS', `The key file ${path} has mode ${mode}, but ${advice}`);
  }
  if (stat.size > MAX_BYTES)
    throw new VaultError('KEY_FORMAT', `The key file ${path} is larger than ${MAX_BYTES} bytes`);
}

function unreadable(path: string, cause: unknown): VaultError {
  const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
  const reason = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
  return new VaultError('NO_KEY', `The key file ${path} ${reason}`, cause);
}
