import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { authorizationTypes } from '../core/authorization/registry.ts';

/**
 * Checks that, apart from the files in `ALLOWED` and the console, only `core/authorization/` names authorization types.
 * A new type then needs a new module and no other change.
 */
const CONSOLE = join('web', 'console');
const FOLDERS = ['core', 'handlers', 'db', 'http', 'cli', 'web', 'wiring'];
const HOME = 'core/authorization/';

/** Files that may name types, and the reason. */
const ALLOWED: Record<string, string> = {
  'core/openapi-conversion/security.ts': 'chooses the types of a provider by the security schemes of its description',
  'core/openapi-conversion/security-scheme.ts': 'chooses the type of a security scheme',
  'core/connections/vendor.ts': 'CUSTOM is the name of a vendor there',
};

/** Returns one line for each name of an authorization type outside of its module. */
export function findTypeNames(root: string): string[] {
  return FOLDERS.flatMap((folder) => sourceFiles(join(root, folder))).flatMap((path) =>
    problemsIn(relative(root, path), readFileSync(path, 'utf8')),
  );
}

/** Checks one file, given as a path from the root and its text. A quoted name in a comment is also reported. */
export function problemsIn(file: string, text: string): string[] {
  if (file.startsWith(HOME) || Object.hasOwn(ALLOWED, file)) return [];
  const names = authorizationTypes().join('|');
  const quoted = new RegExp(`(['"\`])(?:${names})\\1`);
  const key = new RegExp(`^\\s*(?:${names})\\??\\s*:`);
  return text
    .split('\n')
    .flatMap((line, index) =>
      quoted.test(line) || key.test(line) ? [`${file}:${index + 1} names an authorization type: ${line.trim()}`] : [],
    );
}

function sourceFiles(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  const files = entries
    .filter((e) => e.isFile() && /\.(ts|js|sql)$/.test(e.name))
    .map((e) => join(e.parentPath, e.name));
  // The console is a client of the contract, which has these names.
  return files.filter((file) => !file.includes(CONSOLE));
}

if (import.meta.main) {
  const found = findTypeNames(join(import.meta.dirname, '..'));
  for (const line of found) console.error(line);
  if (found.length > 0) {
    console.error('Ask the module of the type instead: docs/architecture.md, "Authorization types".');
    process.exit(1);
  }
  console.log('authorization types: named in core/authorization alone');
}
