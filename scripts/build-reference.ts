import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const TARGET = join(ROOT, 'build/reference');
const VERSION_FILE = 'VERSION';

/**
 * Copies the files of the reference viewer that browsers load to `build/reference`, unless that version is there. The
 * package with its dependencies takes 150 MB, so a server that is installed without development packages has the copy.
 */
export function buildReference(target = TARGET): void {
  const source = join(ROOT, 'node_modules/@scalar/api-reference');
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as { version: string };
  const versionFile = join(target, VERSION_FILE);
  if (existsSync(versionFile) && readFileSync(versionFile, 'utf8') === version) return;
  rmSync(target, { recursive: true, force: true });
  mkdirSync(join(target, 'chunks'), { recursive: true });
  const browser = join(source, 'dist/browser');
  const scripts = readdirSync(join(browser, 'chunks')).filter((name) => name.endsWith('.js'));
  for (const name of scripts) copyScript(join(browser, 'chunks', name), join(target, 'chunks', name));
  copyScript(join(browser, 'standalone.esm.js'), join(target, 'standalone.esm.js'));
  cpSync(join(source, 'dist/style.css'), join(target, 'style.css'));
  // Written last, so that an interrupted copy is made again.
  writeFileSync(versionFile, version);
}

/** Copies a script without the comment that names its source map, because the maps are not served. */
function copyScript(from: string, to: string): void {
  writeFileSync(to, readFileSync(from, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'));
}

if (import.meta.main) buildReference();
