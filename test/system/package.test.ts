import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { useEverything } from '../../scripts/bench/everything.ts';
import { environmentOf, prepare } from '../../scripts/bench/subject.ts';
import { ROOT } from '../flows/markdown.ts';
import { tempDir } from '../support/temp-dir.ts';

const run = promisify(execFile);
/** The search path of the machine, without the programs of the repository's packages. */
const PATH = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter);

describe('npm package', () => {
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

  it('comes with a list of its packages and checksums in a release, and npm finds what is to be published', async () => {
    const workflow = parse(readFileSync(join(ROOT, '.github/workflows/release.yml'), 'utf8')) as Workflow;
    const { steps } = workflow.jobs['package'];
    const commands = steps
      .slice(steps.findIndex(({ run }) => run === 'make package') + 1)
      .map(({ run = '' }) =>
        run
          .replace(/^npm publish --provenance --access public/, 'npm pack --dry-run')
          .replace(/^gh release create .*--generate-notes/, 'ls'),
      );
    expect(commands.join('\n'))
      .to.match(/^npm pack /m)
      .and.to.match(/^ls build/m)
      .and.not.match(/publish|gh /);
    const outputs: string[] = [];
    for (const command of commands) {
      const { stdout } = await run('bash', ['-e', '-c', command], { cwd: ROOT, env: { ...process.env, PATH } });
      outputs.push(stdout);
    }
    expect(outputs.join(''))
      .to.match(/^valetkey-[\d.]+\.tgz$/m)
      .and.include('SHA256SUMS');
    const { components } = JSON.parse(readFileSync(join(ROOT, 'build/valetkey.cdx.json'), 'utf8')) as {
      components: { name: string }[];
    };
    expect(components.map(({ name }) => name))
      .to.include('openapi-fetch')
      .and.not.include('mocha');
    await run('sha256sum', ['--check', 'SHA256SUMS'], { cwd: join(ROOT, 'build') });
  });

  it('contains the built console and no sources of development', () => {
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
    expect(files).to.include.members(['cli/valetkey.js', 'build/console/index.html', 'deploy/package-lock.json']);
    expect(files).to.include.members(['build/server/main.js', 'build/server/main.js.lines.json']);
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

  it('serves the API, MCP, an import, the console and the reference when npx starts it in an empty directory, and its commands use the API', async () => {
    const settings = { ...env, ...environmentOf(env.DATA_DIR, 1), PORT: '0' };
    server = spawn('npx', ['--no-install', 'valetkey', 'serve'], {
      ...options,
      env: settings,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
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
    const port = Number(new URL(origin).port);
    const subject = await prepare(port, 1);
    await useEverything(port, subject.token, subject);
    const status = await run('npx', ['--no-install', 'valetkey', 'status', '--server', origin], options);
    expect(status.stdout).to.match(/^Status +ready$/m);
    const ended = once(server, 'close');
    // npx does not forward the signal.
    process.kill(pid, 'SIGTERM');
    await ended;
  });

  it('runs the server from its built files, without the modules that they replace', async () => {
    renameSync(join(installed, 'http/server.js'), join(installed, 'http/server.left-out'));
    try {
      const started = spawn('npx', ['--no-install', 'valetkey', 'serve'], {
        ...options,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      const { pid } = await listening(started);
      const ended = once(started, 'close');
      process.kill(pid, 'SIGTERM');
      await ended;
    } finally {
      renameSync(join(installed, 'http/server.left-out'), join(installed, 'http/server.js'));
    }
  });

  it('starts Node 24 when its command is called by its path, with whichever Node the machine has', async () => {
    const { stdout } = await run(join(folder.path, 'node_modules/.bin/valetkey'), ['--version'], options);
    expect(stdout.trim()).to.equal('0.1.0');
  });

  it('runs a command that works in a thread', async () => {
    const { stdout } = await run('npx', ['--no-install', 'valetkey', 'backup', 'backup.db'], options);
    expect(stdout).to.include('Backup made and verified');
  });
});

interface Workflow {
  jobs: { package: { steps: { run?: string }[] } };
}

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
