import { expect } from 'chai';
import { ownModules } from '../../cli/own-modules.ts';

const BASE = 'file:///srv/valetkey/';

describe('the resolution of own modules', () => {
  const resolve = ownModules(BASE) as unknown as (specifier: string, context: object, next: () => string) => unknown;
  const resolved = (specifier: string, parentURL?: string) => resolve(specifier, { parentURL }, () => 'by Node');

  for (const [specifier, parent, url] of [
    ['./b.ts', 'core/a.ts', 'core/b.ts'],
    ['./c/d.ts', 'core/a.ts', 'core/c/d.ts'],
    ['../db/store.ts', 'core/a.ts', 'db/store.ts'],
    ['../../db/store.ts', 'core/net/a.ts', 'db/store.ts'],
    ['../net.ts', 'core/net/a.ts', 'core/net.ts'],
  ] as const) {
    it(`finds ${specifier} in ${parent} without Node`, () => {
      expect(resolved(specifier, `${BASE}${parent}`)).to.deep.equal({
        url: new URL(specifier, `${BASE}${parent}`).href,
        format: 'module-typescript',
        shortCircuit: true,
      });
      expect(new URL(specifier, `${BASE}${parent}`).href).to.equal(`${BASE}${url}`);
    });
  }

  it('treats a compiled module as an ES module', () => {
    expect(resolved('./b.js', `${BASE}core/a.js`)).to.deep.include({ url: `${BASE}core/b.js`, format: 'module' });
  });

  for (const [what, specifier, parent] of [
    ['a package', 'undici', `${BASE}core/a.ts`],
    ['a module of Node', 'node:fs', `${BASE}core/a.ts`],
    ['a module of a package', './b.js', `${BASE}node_modules/p/a.js`],
    ['a module outside of the program', '../../b.ts', `${BASE}core/a.ts`],
    ['a module that another program imports', './b.ts', 'file:///srv/other/a.ts'],
    ['the first module', './b.ts', undefined],
    ['a query', './b.ts?x', `${BASE}core/a.ts`],
    ['an escape', './%2e%2e/b.ts', `${BASE}core/a.ts`],
    ['a path that goes up again', './c/../b.ts', `${BASE}core/a.ts`],
    ['a path that goes up after the dot', './../b.ts', `${BASE}core/a.ts`],
    ['another format', './b.json', `${BASE}core/a.ts`],
  ] as const) {
    it(`leaves ${what} to Node`, () => expect(resolved(specifier, parent)).to.equal('by Node'));
  }
});
