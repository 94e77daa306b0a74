import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/**
 * Checks the imports of every file: which module may import which, and which packages belong to a module. The rule with
 * the longest matching path applies. A rule names folders or files; a module may always import itself.
 */
interface Folder {
  path: string;
  may: string[];
}

/** Every module may import these. They themselves import no other module of this repository. */
const COMMON = ['core/budgets.ts', 'core/budgets', 'core/exhausted.ts', 'core/program-version.ts', 'core/spans.ts'];

const FOLDERS: Folder[] = [
  { path: 'catalogue', may: [] },
  { path: 'web', may: [] },
  { path: 'web/console', may: ['generated/api.d.ts'] },
  {
    path: 'core/net',
    may: ['core/errors.ts', 'core/secret.ts', 'core/text/ascii-json.ts', 'core/scheduling/lanes.ts'],
  },
  { path: 'core/threads', may: ['core/errors.ts'] },
  { path: 'core/vault', may: ['core/errors.ts', 'core/secret.ts', 'core/ids.ts'] },
  { path: 'core/tokens', may: ['core/errors.ts', 'core/secret.ts', 'core/ids.ts', 'core/vault'] },
  {
    path: 'core/authorization',
    may: [
      ...['generated/api.d.ts', 'core/errors.ts', 'core/secret.ts', 'core/connectors'],
      ...['core/accounts/obtaining/request.ts', 'core/oauth/client-auth.ts', 'core/tools/signer.ts'],
      ...['core/oauth1', 'core/smart-fhir', 'core/trusted-idp', 'core/workspace-dwd'],
    ],
  },
  {
    path: 'core/oauth',
    may: [
      ...['core/errors.ts', 'core/secret.ts', 'core/text/byte-order-mark.ts', 'core/authorization', 'core/connectors'],
      'core/tools/pointer.ts',
    ],
  },
  {
    path: 'core/connectors',
    may: [
      ...['core/errors.ts', 'core/secret.ts', 'core/text/ascii-json.ts', 'core/authorization', 'core/tools'],
      'core/net/framing-headers.ts',
    ],
  },
  {
    path: 'core/openapi-conversion',
    may: [
      'core/errors.ts',
      'core/secret.ts',
      'core/connectors',
      'core/tools',
      'core/threads',
      'core/scheduling/turns.ts',
      'core/text/byte-order-mark.ts',
    ],
  },
  {
    path: 'core/tools',
    may: ['core/errors.ts', 'core/secret.ts', 'core/authorization', 'core/connectors', 'core/threads'],
  },
  { path: 'core/events', may: ['generated/api.d.ts', 'core', 'db'] },
  { path: 'core/present', may: ['generated/api.d.ts', 'core', 'db'] },
  { path: 'core/mcp', may: ['core', 'db'] },
  { path: 'core', may: ['core', 'db'] },
  {
    path: 'db',
    may: [
      'core/text/ascii-json.ts',
      'core/errors.ts',
      'core/ids.ts',
      'core/secret.ts',
      'core/authorization/type.ts',
      'core/scheduling/timers.ts',
    ],
  },
  { path: 'handlers', may: ['http/contract.ts', 'core', 'db'] },
  { path: 'http', may: ['handlers', 'generated', 'core', 'web', 'db'] },
  { path: 'wiring', may: ['handlers/index.ts', 'http', 'generated', 'core', 'db'] },
  { path: 'cli', may: ['wiring', 'http', 'core', 'db', 'generated/api.d.ts', 'build/server/main.js'] },
  { path: 'examples', may: ['generated'] },
  { path: 'scripts', may: ['core', 'db', 'http', 'wiring', 'cli', 'handlers', 'generated', 'web', 'examples'] },
  // The conformance suite of the storage port, which every engine must pass.
  { path: 'test/db', may: ['db/store.ts', 'db/open-store.ts', 'db/accounts/fold.ts', 'core', 'test/support'] },
  { path: 'test/db/postgres', may: ['core', 'db', 'test', 'scripts'] },
  { path: 'test/db/sqlite', may: ['core', 'db', 'test', 'scripts'] },
  { path: 'test', may: ['core', 'db', 'http', 'wiring', 'cli', 'handlers', 'generated', 'web', 'scripts', 'examples'] },
];

/** Packages that only some modules may import, so that a change of such a package affects one place. */
const PACKAGE_OWNERS: Record<string, string[]> = {
  express: ['http'],
  'openapi-backend': ['http'],
  'markdown-it': ['http/documents/markdown.ts', 'core/tools/markdown-to-html.ts'],
  htmlparser2: ['core/tools/html-to-markdown.ts'],
  'better-sqlite3': ['db/sqlite'],
  pg: ['db/postgres'],
  'drizzle-orm': ['db/drizzle.ts'],
  'openapi-fetch': ['cli/api', 'examples', 'web/console'],
  'get-east-asian-width': ['cli/output'],
  undici: ['core/net'],
  got: ['core/net'],
  jsonwebtoken: ['core/tokens'],
  oauth4webapi: ['core/oauth'],
  '@modelcontextprotocol/server': ['core/mcp', 'http'],
  '@modelcontextprotocol/node': ['http'],
  '@modelcontextprotocol/client': ['core/mcp', 'examples'],
  zod: ['core/mcp'],
  '@opentelemetry/api': ['wiring/telemetry'],
  '@opentelemetry/core': ['wiring/telemetry'],
  '@opentelemetry/resources': ['wiring/telemetry'],
  '@opentelemetry/sdk-trace': ['wiring/telemetry'],
  '@opentelemetry/sdk-metrics': ['wiring/telemetry'],
  '@opentelemetry/sdk-logs': ['wiring/telemetry'],
  '@opentelemetry/exporter-trace-otlp-http': ['wiring/telemetry'],
  '@opentelemetry/exporter-metrics-otlp-http': ['wiring/telemetry'],
  '@opentelemetry/exporter-logs-otlp-http': ['wiring/telemetry'],
  'node:net': ['core/net'],
  'node:tls': ['core/net'],
  'node:http': ['http', 'core/net', 'examples'],
  'node:https': ['core/net'],
};

/**
 * Folders that, besides scripts and tests, only the listed files may import, so that the rest of the program works with
 * any engine.
 */
const CLOSED: Record<string, string[]> = {
  'db/sqlite': ['db/open-store.ts'],
  'db/postgres': ['db/open-store.ts'],
};

/**
 * Only these folders may import packages that are not dependencies of the server, because they are only used where the
 * development packages are installed. The console has its own packages.
 */
const DEVELOPMENT = ['scripts', 'test', 'web/console'];
const DEPENDENCIES = new Set(
  Object.keys(JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')).dependencies),
);

const FREE = ['scripts', 'test', 'test/db/sqlite', 'test/db/postgres'];
const IMPORT = /^\s*(?:import|export)\s(?:[^'"]*?\sfrom\s)?['"]([^'"]+)['"]/gm;
const DYNAMIC_IMPORT = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

/** Returns one line for each import that breaks a rule; an empty list if there is none. */
export function findViolations(root: string): string[] {
  return FOLDERS.map((folder) => folder.path.split('/')[0] as string)
    .filter((folder, index, all) => all.indexOf(folder) === index)
    .flatMap((folder) => sourceFiles(join(root, folder)))
    .flatMap((file) => violationsIn(root, relative(root, file), readFileSync(file, 'utf8')));
}

/** Checks the imports of one file, given as a path from the root and its text. */
export function violationsIn(root: string, file: string, text: string): string[] {
  const folder = folderOf(file);
  if (!folder) return [];
  const specifiers = [...text.matchAll(IMPORT), ...text.matchAll(DYNAMIC_IMPORT)].map((match) => match[1] as string);
  return specifiers.flatMap((specifier) => {
    // Such a specifier is the address of a script that a page loads, not a file.
    if (specifier.startsWith('/')) return [];
    if (!specifier.startsWith('.')) return packageViolations(file, folder, specifier);
    const target = relative(root, join(root, dirname(file), specifier));
    if (isClosed(target, file, folder)) return [`${file} imports ${target}, which is closed to it`];
    const allowed = [folder.path, ...folder.may, ...COMMON].some((place) => isWithin(place, target));
    return allowed ? [] : [`${file} imports ${target}, which ${folder.path} may not`];
  });
}

function packageViolations(file: string, folder: Folder, specifier: string): string[] {
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  if (!isInstalledFor(file, name))
    return [`${file} imports ${name}, which the dependencies of package.json do not list`];
  const owners = PACKAGE_OWNERS[name];
  if (!owners || FREE.includes(folder.path) || owners.some((owner) => isWithin(owner, file))) return [];
  return [`${file} imports ${name}, which belongs to ${owners.join(', ')}`];
}

/** Whether a package is installed where the file is used. Servers are installed without the development packages. */
function isInstalledFor(file: string, name: string): boolean {
  if (name.startsWith('node:')) return true;
  return DEPENDENCIES.has(name) || DEVELOPMENT.some((folder) => isWithin(folder, file));
}

function isClosed(target: string, file: string, folder: Folder): boolean {
  if (FREE.includes(folder.path)) return false;
  return Object.entries(CLOSED).some(
    ([folder, importers]) => isWithin(folder, target) && !isWithin(folder, file) && !importers.includes(file),
  );
}

/** Whether a file is in a folder, or is the given file. */
function isWithin(place: string, file: string): boolean {
  return file === place || file.startsWith(`${place}/`);
}

function folderOf(file: string): Folder | undefined {
  const folders = FOLDERS.filter((folder) => file.startsWith(`${folder.path}/`));
  return folders.sort((a, b) => b.path.length - a.path.length)[0];
}

function sourceFiles(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
    const files = entries.filter((e) => e.isFile() && /\.(ts|js)$/.test(e.name)).map((e) => join(e.parentPath, e.name));
    return files.filter((file) => !file.includes('node_modules'));
  } catch {
    return [];
  }
}

if (import.meta.main) {
  const violations = findViolations(join(import.meta.dirname, '..'));
  for (const violation of violations) console.error(violation);
  if (violations.length > 0) process.exit(1);
  console.log('imports: in order');
}
