import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib';
import { loadConsolePackage } from './console-packages.ts';

/**
 * Builds the console in `build/console` if a source has changed since the last build. A build takes about three
 * seconds; without a change, the bundler is not loaded. The server sends the compressed files as they are.
 */
const ROOT = join(import.meta.dirname, '..');
const CONSOLE = join(ROOT, 'web/console');
const DIST = join(ROOT, 'build/console');
const DIGEST = join(DIST, 'sources.sha256');

function digestOfSources(): string {
  const hash = createHash('sha256');
  const entries = readdirSync(join(CONSOLE, 'src'), { withFileTypes: true, recursive: true });
  const sources = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const file of [
    ...sources.sort(),
    join(CONSOLE, 'index.html'),
    join(CONSOLE, 'package-lock.json'),
    import.meta.filename,
  ]) {
    hash
      .update(`${relative(ROOT, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex');
}

type Build = (options: object) => Promise<unknown>;

async function build(): Promise<void> {
  const { build } = await loadConsolePackage<{ build: Build }>('vite');
  await build({
    configFile: false,
    root: CONSOLE,
    base: '/console/',
    logLevel: 'error',
    cacheDir: join(ROOT, '.cache/vite'),
    build: {
      outDir: DIST,
      emptyOutDir: true,
      manifest: true,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
    },
  });
  for (const name of readdirSync(join(DIST, 'assets'))) {
    const file = join(DIST, 'assets', name);
    const bytes = readFileSync(file);
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
    const params = { [zlib.BROTLI_PARAM_QUALITY]: 10, [zlib.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
  }
}

const digest = digestOfSources();
if (!existsSync(DIGEST) || readFileSync(DIGEST, 'utf8') !== digest) {
  console.error(`Building the console (${relative(ROOT, dirname(DIGEST))}) …`);
  await build();
  writeFileSync(DIGEST, digest);
}
