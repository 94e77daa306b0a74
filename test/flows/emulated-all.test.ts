import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { EMULATED_HOSTS, emulatedRoutes, expectAllRun, knownTools } from '../support/emulated-tools.ts';

describe('the tools that emulators know', () => {
  const routes = emulatedRoutes();

  it('are read from the routes of every service of `emulate`', () => {
    expect([...routes.keys()].sort()).to.deep.equal(Object.keys(EMULATED_HOSTS).sort());
    for (const [service, list] of routes) expect(list, service).to.not.have.length(0);
  });

  it('are found by method and path, also where a parameter has several segments', () => {
    const github = routes.get('github') ?? [];
    const has = (method: string, path: string) =>
      github.some((route) => route.method === method && route.path.test(path));
    expect(has('GET', '/repos/ada/engine/branches/fix/carry')).to.equal(true);
    expect(has('GET', '/repos/ada/engine/issues/7')).to.equal(true);
    expect(has('PUT', '/repos/ada/engine/issues/7')).to.equal(false);
    expect(has('GET', '/repos/ada/engine/issues/7/more')).to.equal(false);
  });

  it('are demanded of each connector, by a test that runs them', () => {
    const folder = new URL('.', import.meta.url);
    const files = readdirSync(folder).filter(
      (name) => /^emulated-.*\.test\.ts$/.test(name) && name !== 'emulated-all.test.ts',
    );
    const text = files.map((name) => readFileSync(new URL(name, folder), 'utf8')).join('\n');
    for (const connector of knownTools().keys()) expect(text, connector).to.match(new RegExp(`\\b${connector}\\b`));
  });

  it('are demanded: one that is neither run nor excused fails, and so does a needless excuse (control)', () => {
    const all = knownTools().get('resend') ?? [];
    expect(all).to.include('send_email');
    const others = new Set(all.filter((tool) => tool !== 'send_email'));
    expect(() => expectAllRun('resend', others)).to.throw('neither run nor excused');
    expectAllRun('resend', others, { send_email: 'A reason.' });
    expect(() => expectAllRun('resend', new Set(all), { send_email: 'A reason.' })).to.throw('excused without need');
    expect(() => expectAllRun('resend', new Set(all), { fly: 'A reason.' })).to.throw('excused without need');
  });
});
