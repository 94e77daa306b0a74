import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const CONSOLE = join(import.meta.dirname, '../web/console');

/**
 * Loads a package of the console, which has its own packages, among them the bundlers. They are installed if they are
 * missing.
 */
export async function loadConsolePackage<T>(name: string): Promise<T> {
  if (!existsSync(join(CONSOLE, 'node_modules', name))) {
    execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: CONSOLE, stdio: 'inherit' });
  }
  const packages = createRequire(join(CONSOLE, 'package.json'));
  return (await import(pathToFileURL(packages.resolve(name)).href)) as T;
}
