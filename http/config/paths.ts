import { accessSync, constants, lstatSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ConfigError } from './config-error.ts';

type PathSetting = 'DATA_DIR' | 'DATABASE_URL' | 'VALETKEY_KEYS_FILE';

/** The files of the server. */
export interface Paths {
  dataDir: string;
  /** The path of the database file. It is not used if `DATABASE_URL` names a server. */
  databaseFile: string;
  keysFile: string;
  /** The settings that name the two files, for errors. */
  namedBy: { database: PathSetting; keys: PathSetting };
}

const MAX_LINKS = 40;
const REASONS: Readonly<Record<string, string>> = {
  ENOTDIR: 'a part of the path is a file, not a directory',
  ELOOP: 'the path has too many symbolic links',
  ENAMETOOLONG: 'the path is too long',
  EACCES: 'this user has no access to a directory of the path',
};

/**
 * Reads the settings that name files and directories. An existing path must be of the right kind. Whether it can be
 * read and written is not checked here, because a command does not need all files. Only the certificate and key files
 * of a database server must be readable.
 *
 * @throws ConfigError naming the variable
 */
export function readPaths(env: Readonly<Record<string, string | undefined>>): Paths {
  const dataDir = env['DATA_DIR'] || './data';
  const url = env['DATABASE_URL'] || '';
  const keysFile = env['VALETKEY_KEYS_FILE'] || join(dataDir, 'keys');
  const namedBy: Paths['namedBy'] = {
    database: url ? 'DATABASE_URL' : 'DATA_DIR',
    keys: env['VALETKEY_KEYS_FILE'] ? 'VALETKEY_KEYS_FILE' : 'DATA_DIR',
  };
  for (const name of ['DATA_DIR', 'DATABASE_URL', 'VALETKEY_KEYS_FILE']) {
    // The database driver removes leading and trailing white space, and would open another file.
    const text = env[name] ?? '';
    if (text.trim() !== text) throw new ConfigError(`${name} must not begin or end with white space`);
  }
  for (const name of ['DATABASE_URL', 'DATABASE_REPLICA_URL', 'DATABASE_LISTEN_URL'])
    checkCertificates(name, env[name]);
  checkKind('DATA_DIR', dataDir, 'directory');
  const named = url && !isServer(url) ? fileOfUrl(url) : join(dataDir, 'valetkey.db');
  if (!isServer(url)) checkKind(namedBy.database, named, 'file');
  if (!env['VALETKEY_KEYS']) checkKind(namedBy.keys, keysFile, 'file');
  return { dataDir, databaseFile: withoutLinks(named), keysFile, namedBy };
}

/**
 * Checks that a setting names a file that can be read. A pipe, for example, would block the start.
 *
 * @throws ConfigError naming the setting
 */
export function requireReadable(setting: string, path: string): void {
  checkKind(setting, path, 'file');
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'does not exist' : 'cannot be read';
    throw new ConfigError(`${setting}: ${path} ${reason}`, { cause: error });
  }
}

/** Whether a `DATABASE_URL` names a server, not a file. */
export function isServer(url: string): boolean {
  return /^postgres(ql)?:\/\//.test(url);
}

/**
 * Names the setting in errors about its file, for example when the file cannot be created.
 *
 * @param work opens or creates the file
 * @throws ConfigError if the error concerns a file; other errors are thrown unchanged
 */
export async function namingSetting<T>(setting: PathSetting, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error) || !concernsFile(error)) throw error;
    throw new ConfigError(`${setting}: ${error.message}`, { cause: error });
  }
}

// Codes with which a database says that it cannot use its file.
const FILE_FAULT = /_(CANTOPEN|CORRUPT|FULL|IOERR|NOTADB|READONLY)/;

/**
 * Whether an error concerns a file. Errors of the storage and of the vault have the error of the system or of the
 * driver as their cause, so the cause is checked, too.
 */
function concernsFile(error: Error): boolean {
  const { cause } = error;
  return [error, cause].some(
    (each) =>
      each instanceof Error &&
      (('syscall' in each && 'path' in each) || ('code' in each && FILE_FAULT.test(String(each.code)))),
  );
}

/** Checks that the certificate and key files in the address of a database server can be read. */
function checkCertificates(setting: string, url = ''): void {
  if (!isServer(url)) return;
  const parameters = new URLSearchParams(url.split('?')[1]);
  for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
    const path = parameters.get(name);
    if (path) requireReadable(setting, path);
  }
}

function fileOfUrl(url: string): string {
  const path = url.startsWith('file:') ? url.slice('file:'.length) : url;
  // Rejects other URL schemes. The name of a file that looks like one can be written as ./name.
  if (/^[a-z0-9+.-]*:/i.test(path) || (url !== path && /^\/\/[^/]/.test(path)))
    throw new ConfigError('DATABASE_URL must be postgres://…, or the path of a file, with or without file: in front');
  return path;
}

/**
 * Follows symbolic links, because the database engine creates its other files next to the real file. The file need not
 * exist.
 */
function withoutLinks(path: string, links = 0): string {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  if (!isLink) return path;
  if (links === MAX_LINKS)
    throw new ConfigError(`DATABASE_URL names a symbolic link that leads through more than ${MAX_LINKS} others`);
  return withoutLinks(resolve(dirname(path), readlinkSync(path)), links + 1);
}

/**
 * Checks the kind of a path. If nothing exists there, the nearest existing parent must be a directory.
 *
 * @throws ConfigError naming the setting
 */
function checkKind(setting: string, path: string, kind: 'file' | 'directory'): void {
  const found = inspect(setting, path);
  if (!found) {
    checkKind(setting, dirname(resolve(path)), 'directory');
    return;
  }
  if (kind === 'directory' ? found.isDirectory() : found.isFile()) return;
  const what = found.isDirectory() ? 'a directory' : 'not a regular file';
  throw new ConfigError(`${setting}: ${path} is ${kind === 'directory' ? 'not a directory' : what}`);
}

/** @returns undefined if nothing exists there */
function inspect(setting: string, path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (code === 'ENOENT') return undefined;
    throw new ConfigError(`${setting}: ${REASONS[code] ?? (error as Error).message}`, { cause: error });
  }
}
