import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const TARGET = join(ROOT, 'build/reference');
const VERSION_FILE = 'VERSION';
const VIEWER = '@scalar/api-reference';
const VERSION = '1.72.1';
/** The digest of the package's archive, in the format of package-lock.json. */
const INTEGRITY = 'sha512-XpEJ0rfc/cXbCrR+iC4kK0o/WwX2dTtGQbT049OlPKAHD6IMIFdTeGz2r+M27P2EDWKyUITRm/NzlP8z2pw/Ow==';

/**
 * Copies the files of the reference viewer that browsers load into `build/reference`, unless that folder already has
 * this version. Only the archive of the package is downloaded. Its scripts already contain its dependencies, and
 * installing those would take 310 MB.
 *
 * @throws Error if the archive does not match the digest
 */
export function buildReference(target = TARGET): void {
  const versionFile = join(target, VERSION_FILE);
  if (existsSync(versionFile) && readFileSync(versionFile, 'utf8') === VERSION) return;
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, '.cache/reference-'));
  try {
    copyFiles(unpack(folder), target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  // Written last, so that an interrupted copy is made again.
  writeFileSync(versionFile, VERSION);
}

/**
 * Downloads the archive of the package to a folder, checks its digest, and unpacks the files for browsers.
 *
 * @returns the folder of these files
 */
function unpack(folder: string): string {
  const options = ['--pack-destination', folder, '--ignore-scripts', '--loglevel=error', '--json'];
  const output = execFileSync('npm', ['pack', `${VIEWER}@${VERSION}`, ...options], { cwd: ROOT, encoding: 'utf8' });
  const [{ filename }] = JSON.parse(output) as [{ filename: string }];
  const archive = join(folder, filename.replace('/', '-').replace('@', ''));
  const digest = createHash('sha512').update(readFileSync(archive)).digest('base64');
  if (`sha512-${digest}` !== INTEGRITY) throw new Error(`${VIEWER} ${VERSION} is not the package of the known digest`);
  execFileSync('tar', ['-xzf', archive, '-C', folder, 'package/dist']);
  return join(folder, 'package/dist');
}

function copyFiles(dist: string, target: string): void {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(join(target, 'chunks'), { recursive: true });
  const browser = join(dist, 'browser');
  const scripts = readdirSync(join(browser, 'chunks')).filter((name) => name.endsWith('.js'));
  for (const name of scripts) copyScript(join(browser, 'chunks', name), join(target, 'chunks', name));
  copyScript(join(browser, 'standalone.esm.js'), join(target, 'standalone.esm.js'));
  cpSync(join(dist, 'style.css'), join(target, 'style.css'));
}

/** Copies a script without the comment that names its source map, because the maps are not served. */
function copyScript(from: string, to: string): void {
  writeFileSync(to, readFileSync(from, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'));
}

if (import.meta.main) buildReference();
