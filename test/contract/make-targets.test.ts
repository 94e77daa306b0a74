import { readFileSync } from 'node:fs';
import { expect } from 'chai';

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

describe('npm scripts', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const described = [...read('Makefile').matchAll(/^([a-z-]+):.*## /gm)].map((match) => String(match[1]));

  it('are the targets of the Makefile, but for installing, which npm would run at every install', () => {
    const { start: _start, ...mirrored } = scripts;
    const targets = described.filter((name) => name !== 'install');
    expect(targets).to.include.members(['run', 'test', 'check']);
    expect(mirrored).to.deep.equal(Object.fromEntries(targets.map((name) => [name, `make ${name}`])));
  });

  it('start the server just as make does', () => {
    expect(scripts['start']).to.match(/^MALLOC_ARENA_MAX=1 exec node --disable-sigusr1 .*cli\/valetkey\.js serve$/);
    expect(read('Makefile')).to.include(`\t@${scripts['start']}\n`);
  });

  it('L5: start it as the page on operations does, by hand and as a unit', () => {
    const command = scripts['start']?.slice('MALLOC_ARENA_MAX=1 exec '.length);
    const page = read('docs/operations.md');
    expect(page).to.include(`# or: MALLOC_ARENA_MAX=1 node_modules/.bin/${command}\n`);
    expect(page).to.include(`ExecStart=/opt/valetkey/node_modules/.bin/${command}\n`);
  });
});
