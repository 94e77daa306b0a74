import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { buildServer, SOURCES } from './build-server.ts';

/**
 * Makes the npm package of the server in `build/`, with JavaScript instead of TypeScript, because Node does not run
 * TypeScript below `node_modules`. The types are replaced by spaces, so the lines of a stack trace are those of the
 * sources. The package also contains the server bundled into a few files, which start faster. The console and the
 * viewer of the API reference must have been built.
 */
const ROOT = join(import.meta.dirname, '..');
const TARGET = join(ROOT, 'build/package');
const FILES = [
  ...['README.md', 'CHANGELOG.md', 'LICENSE', 'SECURITY.md', 'docs', 'catalogue', 'deploy'],
  ...['build/console', 'build/reference', 'generated'],
];
/** The file that the package's command starts. */
const START = 'cli/valetkey.js';
/**
 * Files that the package omits: the sources of the console, because the package contains the built console; pictures,
 * which no guide shows; type declarations, except those that pages offer; and digests of sources.
 */
const LEFT_OUT = [/^web\/console(\/|$)/, /^docs\/screens(\/|$)/, /^(?!web\/assets\/).*\.d\.ts$/, /sources\.sha256$/];
/** The address of another module of this repository in an import, an export, `require` or `new URL`. */
const SPECIFIER = /((?:\bfrom|\bimport|\bimport\(|\brequire\(|\bnew URL\()\s*['"]\.[^'"\n]*)\.ts(?=['"])/g;

/** Writes the package and returns the path of its archive. */
async function makePackage(): Promise<string> {
  rmSync(TARGET, { recursive: true, force: true });
  for (const folder of [...SOURCES, ...FILES]) copy(folder);
  await buildServer(TARGET);
  writeJson('package.json', packageManifest(readJson('package.json')));
  // npm would omit the lock file under its own name. As npm-shrinkwrap.json it would apply to every installation, and
  // npm would compile the database driver, because a lock file does not say that the driver includes its binaries.
  writeJson('deploy/package-lock.json', runTimeLock(readJson('package-lock.json')));
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--loglevel=error', '--pack-destination', join(ROOT, 'build')], {
      cwd: TARGET,
      encoding: 'utf8',
    }),
  ) as { filename: string }[];
  return join(ROOT, 'build', packed?.filename as string);
}

function copy(path: string): void {
  if (LEFT_OUT.some((pattern) => pattern.test(path))) return;
  const source = join(ROOT, path);
  if (statSync(source).isDirectory()) for (const name of readdirSync(source)) copy(`${path}/${name}`);
  else copyFile(path);
}

function copyFile(name: string): void {
  const source = join(ROOT, name);
  const isTypeScript = /(?<!\.d)\.ts$/.test(name) && SOURCES.some((folder) => name.startsWith(`${folder}/`));
  const target = join(TARGET, isTypeScript ? name.replace(/\.ts$/, '.js') : name);
  mkdirSync(dirname(target), { recursive: true });
  if (isTypeScript || name === START || name.endsWith('.cjs')) {
    const text = readFileSync(source, 'utf8');
    const script = isTypeScript ? module.stripTypeScriptTypes(text, { mode: 'strip' }) : text;
    writeFileSync(target, script.replace(SPECIFIER, '$1.js'), { mode: name === START ? 0o755 : 0o644 });
  } else cpSync(source, target);
}

/** Returns a lock file without the packages that only development needs. */
function runTimeLock({ packages, ...lock }: Manifest): Manifest {
  const kept = Object.entries(packages as Record<string, Manifest>).filter(
    ([, { dev, devOptional }]) => !dev && !devOptional,
  );
  return { ...lock, packages: Object.fromEntries(kept.map(([path, entry]) => [path, packageManifest(entry)])) };
}

function packageManifest({ private: _private, scripts: _scripts, devDependencies: _dev, ...rest }: Manifest): unknown {
  return rest;
}

interface Manifest {
  [member: string]: unknown;
}

function readJson(name: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, name), 'utf8')) as Manifest;
}

function writeJson(name: string, value: unknown): void {
  writeFileSync(join(TARGET, name), `${JSON.stringify(value, null, 2)}\n`);
}

if (import.meta.main) console.log(await makePackage());
