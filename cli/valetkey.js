#!/usr/bin/env node
// This file also runs on older versions of Node: it checks the version before it loads modules that need Node 24. The
// database driver crashes on older versions.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const REQUIRED = 24;
const root = fileURLToPath(new URL('..', import.meta.url));
const isCurrent = Number(process.versions.node.split('.')[0]) >= REQUIRED;
const packagedNode = isCurrent || process.env.VALETKEY_REEXEC === '1' ? undefined : findPackagedNode();

if (isCurrent) {
  // Most of the start time is spent on reading and compiling modules; later starts load them from a compile cache. The
  // cache is next to the packages and not in the shared temporary folder, where other users could plant code. If the
  // folder is not writable, nothing is cached.
  module.enableCompileCache(`${root}node_modules/.cache/valetkey`);
  // An ES module that imports node:http reads all of its exports. Reading these three would load the HTTP client that
  // is built into Node, which nothing here uses, and which takes 14 MB of memory and 35 ms of processor time.
  const http = process.getBuiltinModule('node:http');
  for (const name of ['WebSocket', 'CloseEvent', 'MessageEvent']) delete http[name];
  // This listener replaces Node's own, which opens the debugger; the option `--disable-sigusr1` may be missing from the
  // command.
  process.on('SIGUSR1', () => {});
  const { main } = await (runsBuiltServer() ? import('../build/server/main.js') : loadModules());
  await main(process.argv.slice(2));
  // The compile cache is written now and not at exit, because the process may be killed.
  module.flushCompileCache();
} else if (packagedNode !== undefined) {
  const script = fileURLToPath(import.meta.url);
  const child = spawn(packagedNode, ['--disable-sigusr1', script, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, VALETKEY_REEXEC: '1' },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code) => {
    process.exitCode = code ?? 1;
  });
} else {
  console.error(`Valetkey needs Node ${REQUIRED} or later; this is ${process.version}.`);
  console.error('npm installs it with Valetkey on Linux (x64 and arm64, glibc). Elsewhere install Node 24.');
  process.exitCode = 1;
}

/**
 * Whether to run the server from the few files that `scripts/build-server.ts` builds. This is the case in the npm
 * package, which has no TypeScript, and for `make run`, which builds the files from the current sources first.
 */
function runsBuiltServer() {
  return process.argv[2] === 'serve' && (process.env.VALETKEY_BUILT === '1' || !existsSync(`${root}cli/main.ts`));
}

async function loadModules() {
  const { ownModules } = await import('./own-modules.ts');
  module.registerHooks({ resolve: ownModules(new URL('..', import.meta.url).href) });
  return import('./main.ts');
}

/**
 * Returns the path of the Node that npm has installed as a package, beside this one or below it; undefined if there is
 * none.
 */
function findPackagedNode() {
  try {
    return module.createRequire(import.meta.url).resolve(`node-linux-${process.arch}/bin/node`);
  } catch {
    return undefined;
  }
}
