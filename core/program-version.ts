import { readFileSync } from 'node:fs';

let version: string | undefined;

/** Returns the version in package.json. */
export function programVersion(): string {
  version ??= (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string })
    .version;
  return version;
}
