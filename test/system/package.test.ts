import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { ROOT } from '../flows/markdown.ts';
import { tempDir } from '../support/temp-dir.ts';

const run = promisify(execFile);
/** The commands of the machine alone: no program of the repository's packages. */
const PATH = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter);

describe('npm package', function () {
  this.timeout(600_000);
  const folder = tempDir();
  const env = { ...process.env, PATH, DATA_DIR: join(folder.path, 'data'), PORT: '0', METRICS_PORT: '0' };
  const options = { cwd: folder.path, env };
  const installed = join(folder.path, 'node_modules/valetkey');
  let server: ChildProcess | undefined;

  before(async () => {
    await run('make', ['--silent', 'package'], { cwd: ROOT });
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    const archive = join(ROOT, `build/valetkey-${version}.tgz`);
    await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', archive], options);
  });
  after(() => {
    server?.kill('SIGKILL');
    folder.remove();
  });

  it('contains the built console and no sources of development', () => {
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
    expect(files).to.include.members(['cli/valetkey.js', 'build/console/index.html', 'deploy/package-lock.json']);
    const isSource = (file: string) => /(?<!^web\/assets\/\w+\.d)\.ts$|^(test|scripts|spec|web\/console)\//.test(file);
    expect(files.filter(isSource)).to.deep.equal([]);
    const missing = files
      .filter((file) => /\.c?js$/.test(file) && !file.startsWith('build/') && !file.startsWith('web/assets/'))
      .flatMap((file) => modulesOf(join(installed, file)))
      .filter((module) => !existsSync(module));
    expect(missing).to.deep.equal([]);
  });

  it('installs run-time packages and no development packages', async () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
    const { stdout } = await run('npm', ['ls', '--all', '--parseable'], options);
    const names = stdout.split('\n').map((path) => path.split('node_modules/').at(-1));
    expect(names).to.include.members(Object.keys(packages['']?.dependencies ?? {}));
    const runTime = Object.entries(packages).filter(([, { dev }]) => !dev);
    const runTimeNames = new Set(runTime.map(([path]) => path.split('node_modules/').at(-1)));
    const developmentNames = Object.keys(packages['']?.devDependencies ?? {});
    const onlyDevelopment = developmentNames.filter((name) => !runTimeNames.has(name));
    expect(onlyDevelopment).to.include.members(['mocha', 'typescript']);
    expect(onlyDevelopment.filter((name) => names.includes(name))).to.deep.equal([]);
  });

  it('serves the API, the console and the reference when npx starts it in an empty directory', async () => {
    server = spawn('npx', ['--no-install', 'valetkey', 'serve'], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let errors = '';
    server.stderr?.on('data', (chunk) => {
      errors += chunk;
    });
    const { origin, pid } = await listening(server).catch((error) => {
      throw new Error(`${error}: ${errors}`);
    });
    for (const path of ['/readyz', '/console', '/docs', '/docs/viewer/standalone.esm.js', '/docs/guides/operations']) {
      expect((await fetch(`${origin}${path}`)).status, path).to.equal(200);
    }
    const ended = once(server, 'close');
    // npx does not forward the signal.
    process.kill(pid, 'SIGTERM');
    await ended;
  });

  it('runs a command that works in a thread', async () => {
    const { stdout } = await run('npx', ['--no-install', 'valetkey', 'backup', 'backup.db'], options);
    expect(stdout).to.include('Backup made and verified');
  });
});

interface Lock {
  packages: Record<string, { dev?: true; dependencies?: object; devDependencies?: object }>;
}

/** The paths of the modules that a module imports or starts in threads. */
function modulesOf(file: string): string[] {
  const specifiers = readFileSync(file, 'utf8').matchAll(
    /(?:from |import |import\(|require\(|new URL\()['"](\.[^'"]+\.c?[jt]s)['"]/g,
  );
  return [...specifiers].map(([, specifier = '']) => join(dirname(file), specifier));
}

async function listening(server: ChildProcess): Promise<{ origin: string; pid: number }> {
  if (!server.stdout) throw new Error('no output');
  for await (const line of createInterface({ input: server.stdout })) {
    if (!line.startsWith('{')) continue;
    const entry = JSON.parse(line) as { msg: string; origin: string; pid: number };
    if (entry.msg !== 'listening') continue;
    server.stdout.resume();
    return entry;
  }
  throw new Error('the server ended');
}
