import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { amount } from '../support/amount.ts';

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

describe('npm scripts', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const described = [...read('Makefile').matchAll(/^([a-z-]+):.*## /gm)].map((match) => String(match[1]));

  it('are the targets of the Makefile, except install, which npm would run at every installation', () => {
    const { start: _start, ...mirrored } = scripts;
    const targets = described.filter((name) => name !== 'install');
    expect(targets).to.include.members(['run', 'test', 'check']);
    expect(mirrored).to.deep.equal(Object.fromEntries(targets.map((name) => [name, `make ${name}`])));
  });

  it('start the server as make does', () => {
    expect(scripts['start']).to.match(
      /^MALLOC_ARENA_MAX=1 exec node --disable-sigusr1 .*cli\/valetkey\.js serve --with-parent$/,
    );
    // `make run` has built the server; `npm start` also works without a build.
    expect(read('Makefile')).to.include(`\t@VALETKEY_BUILT=1 ${scripts['start']}\n`);
  });

  it('L5: start the server as the systemd unit does', () => {
    const command = scripts['start']
      ?.slice('MALLOC_ARENA_MAX=1 exec '.length)
      .replace('cli/', '/opt/valetkey/cli/')
      .replace(' --with-parent', '');
    const unit = read('deploy/valetkey.service');
    expect(unit).to.include(`ExecStart=/opt/valetkey/node_modules/.bin/${command}\n`).and.include('MALLOC_ARENA_MAX=1');
  });
});

describe('the packages of the console', () => {
  it('have the same versions as the packages of the server and its tests', () => {
    const { dependencies, devDependencies } = JSON.parse(read('package.json'));
    const all: Record<string, string> = { ...dependencies, ...devDependencies };
    const { dependencies: own } = JSON.parse(read('web/console/package.json')) as { dependencies: typeof all };
    const shared = Object.keys(own).filter((name) => name in all);
    expect(shared).to.include('openapi-fetch');
    for (const name of shared) expect(own[name], name).to.equal(all[name]);
  });

  it('are installed separately, so that make run installs only what the server needs', () => {
    const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, { dev?: boolean }> };
    const packages = Object.entries(lock.packages);
    expect(lock.packages).not.to.have.any.keys('node_modules/react', 'node_modules/vite');
    expect(packages.filter(([, { dev }]) => !dev).length).to.be.lessThan(packages.length / 2);
    expect(read('Makefile')).to.match(/^run: \$\(RUNNABLE\) /m);
  });
});

describe('targets of the Makefile that run tests (F12)', () => {
  const root = join(import.meta.dirname, '../..');
  const runs = [...readFileSync(join(root, 'Makefile'), 'utf8').matchAll(/^\t(.*)\$\(MOCHA\) (.*)$/gm)].map(
    (match) => ({
      variables: [...String(match[1]).matchAll(/\b([A-Z_]+)=/g)].map((found) => String(found[1])),
      files: String(match[2])
        .split(' ')
        .map((word) => word.replaceAll("'", ''))
        .filter((word) => word.endsWith('.test.ts'))
        .flatMap((pattern) => globSync(pattern, { cwd: root })),
    }),
  );

  it('pass numbers, and a text that is none fails instead of running no round', () => {
    expect([amount(undefined, 3), amount('', 3), amount('1000', 3), amount('0', 7, 0)]).to.deep.equal([3, 3, 1000, 0]);
    for (const text of ['abc', '0', '-1', '1,000', '1e3', '2.5', ' 5', '99999999999']) {
      expect(() => amount(text, 3), text).to.throw(`${text} is not a whole number from 1 on`);
    }
    const files = globSync('test/**/*.test.ts', { cwd: root });
    const careless = files.filter((file) => /Number\(process\.env/.test(readFileSync(join(root, file), 'utf8')));
    expect(careless.filter((file) => !file.endsWith('make-targets.test.ts'))).to.deep.equal([]);
  });

  it('name files that exist, and set variables that these files read', () => {
    const long = runs.filter(({ variables }) => variables.length > 0 && !variables.includes('VALETKEY_FULL_SUITE'));
    expect(long.length).to.be.greaterThan(3);
    for (const { variables, files } of long) {
      expect(files, String(variables)).not.to.deep.equal([]);
      expect(files.every((file) => existsSync(join(root, file)))).to.equal(true);
      const sources = files.map((file) => readFileSync(join(root, file), 'utf8'));
      for (const variable of variables) {
        expect(
          sources.some((source) => source.includes(`process.env['${variable}']`)),
          `${variable} is read by ${files}`,
        ).to.equal(true);
      }
    }
  });
});

describe('the MCP clients of make test-system', () => {
  it('have the versions that docs/clients.md states', () => {
    const { dependencies } = JSON.parse(read('test/system/support/mcp-clients/packages/package.json'));
    const documented = [...read('docs/clients.md').matchAll(/^\| (.+?) \| (\d+\.\d+\.\d+) \| (?:registers|by) /gm)];
    // Two packages are peer dependencies of libraries that the tests use.
    const { '@langchain/core': _langchain, '@mastra/core': _mastra, ...clients } = dependencies;
    expect(documented.map(([, , version]) => version).toSorted()).to.deep.equal(Object.values(clients).toSorted());
  });
});
