import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { loadConsolePackage } from './console-packages.ts';
import { lineRuns } from './line-runs.ts';

/**
 * Bundles the server into a few files in `build/server`, because loading a thousand modules one by one takes most of
 * the start time. Other commands and threads still load the modules. Run as a program, this script builds this
 * repository in two seconds, but only if a source has changed.
 */
const ROOT = join(import.meta.dirname, '..');
const BUILT = 'build/server';
/** The folders with modules of the server. */
export const SOURCES = ['cli', 'core', 'db', 'handlers', 'http', 'web', 'wiring'];
const DIGEST = join(ROOT, BUILT, 'sources.sha256');
/**
 * The modules that every start loads. They and the modules that only they import are bundled into one file. Other
 * modules are in separate files, which are loaded at first use.
 */
const START = /\/(cli\/main|cli\/commands\/serve|cli\/serve\/serve-alone|db\/sqlite\/engine)\.[jt]s$/;
/**
 * The only package that is bundled. The server uses only a part of it, and loading its modules takes a third of the
 * time that all other modules take.
 */
const INCLUDED = 'drizzle-orm';
const OTHER_COMMANDS = /import\('\.\/(commands\/(?!serve\.)[^']+)'\)/g;

interface Chunk {
  fileName: string;
  code: string;
  map: { sources: string[]; mappings: string };
}

type Rolldown = (options: object) => Promise<{ generate(options: object): Promise<{ output: Chunk[] }> }>;

/** @param root the folder of the program: this repository, or the npm package, whose modules are JavaScript */
export async function buildServer(root: string): Promise<void> {
  const { rolldown } = await loadConsolePackage<{ rolldown: Rolldown }>('rolldown');
  const extension = existsSync(join(root, 'cli/main.ts')) ? 'ts' : 'js';
  const bundle = await rolldown({
    input: { main: join(root, `cli/main.${extension}`) },
    platform: 'node',
    tsconfig: false,
    preserveEntrySignatures: 'allow-extension',
    logLevel: 'silent',
    plugins: [ownModules(root)],
  });
  const { output } = await bundle.generate({
    dir: join(root, BUILT),
    format: 'esm',
    // V8 keeps the source text of modules in memory, so comments would cost memory.
    comments: false,
    sourcemap: 'hidden',
    chunkFileNames: '[name].js',
    codeSplitting: { groups: [{ name: 'start', test: START }] },
  });
  const target = join(root, BUILT);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  for (const chunk of output.filter(({ code }) => code !== undefined)) write(target, root, chunk);
}

function write(target: string, root: string, { fileName, code, map }: Chunk): void {
  // V8 stores a source text that is not ASCII with two bytes for each character.
  const ascii = code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  writeFileSync(join(target, fileName), ascii);
  const files = map.sources.map((source) => relative(root, join(target, source)));
  writeFileSync(join(target, `${fileName}.lines.json`), JSON.stringify({ files, runs: lineRuns(map.mappings) }));
}

/** Resolves and adapts the modules of the program. Packages other than `INCLUDED` are not bundled. */
function ownModules(root: string) {
  return {
    name: 'own-modules',
    resolveId(this: { resolve: Resolve }, name: string, importer: string | undefined) {
      if (importer === undefined || /^(\.|\/|node:)/.test(name)) return null;
      const isIncluded = name.startsWith(INCLUDED) || importer.includes(`/node_modules/${INCLUDED}/`);
      return isIncluded ? null : { id: name, external: true };
    },
    transform(code: string, id: string) {
      if (!id.startsWith(root) || id.includes('/node_modules/')) return null;
      // No line moves, so the source map stays as it is.
      return { code: adapted(code, relative(root, id)), map: null };
    },
  };
}

type Resolve = (name: string, importer: string) => Promise<unknown>;

/**
 * Adapts a module to its place in a built file: paths that are relative to the module (`import.meta.url`) are replaced
 * by the same paths relative to the built file.
 */
function adapted(code: string, path: string): string {
  const up = '../'.repeat(BUILT.split('/').length);
  if (/^cli\/command-table\./.test(path)) {
    return code.replace(OTHER_COMMANDS, (_, file) => `import(new URL('${up}cli/${file}', import.meta.url).href)`);
  }
  const own = /^db\/drizzle\./.test(path) ? withImports(code) : code;
  return own
    .replaceAll('import.meta.url', `new URL('${up}${path}', import.meta.url).href`)
    .replaceAll('import.meta.dirname', `(import.meta.dirname + '/${up}${dirname(path)}')`)
    .replaceAll('import.meta.filename', `(import.meta.dirname + '/${up}${path}')`);
}

/**
 * Replaces the calls of `require` in the module that loads the query builder by imports, so that the bundler can omit
 * its unused parts.
 */
function withImports(code: string): string {
  let count = 0;
  const imported = code.replace(/^const (\w+) = require\('([^']+)'\)[^;]*;/gm, (_, name, from) => {
    count++;
    return `import * as ${name} from '${from}';`;
  });
  if (count !== 2) throw new Error('db/drizzle has other calls of require than this script expects');
  return imported.replace(/^const require = .*$/m, '');
}

function digestOfSources(): string {
  const hash = createHash('sha256');
  const files = SOURCES.flatMap((folder) => readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true }))
    .filter((entry) => entry.isFile() && /\.[jt]s$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/\/web\/(console|assets)\//.test(file));
  for (const file of [...files.sort(), join(ROOT, 'package-lock.json'), import.meta.filename]) {
    hash
      .update(`${relative(ROOT, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex');
}

if (import.meta.main) {
  const digest = digestOfSources();
  if (!existsSync(DIGEST) || readFileSync(DIGEST, 'utf8') !== digest) {
    console.error(`Building the server (${BUILT}) …`);
    await buildServer(ROOT);
    writeFileSync(DIGEST, digest);
  }
}
