import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { expect } from 'chai';
import { SOURCES } from '../../scripts/build-server.ts';
import { ROOT } from '../flows/markdown.ts';

/** Returns the packages that a module loads, without those from which it only imports types. */
function packagesIn(text: string): string[] {
  const specifiers = text.matchAll(
    /^(?:import|export)\s(?!type\s)[^'";]*?from '([^'./][^']*)'|\bimport\('([^'./][^']*)'\)/gm,
  );
  return [...specifiers].map(([, stated, loaded]) => (stated ?? loaded ?? '').match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? '');
}

describe('the packages of the program', () => {
  it('are found in imports', () => {
    const text =
      "import { a } from 'one/part';\nimport type { b } from 'two';\nconst c = await import('@three/four/x');\n";
    expect(packagesIn(text)).to.deep.equal(['one', '@three/four']);
  });

  it('are all installed without the packages of development', () => {
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { dependencies: object };
    const known = new Set([...builtinModules, ...Object.keys(dependencies)]);
    const missing = SOURCES.flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => /(?<!\.d)\.ts$/.test(file) && !`${folder}/${file}`.startsWith('web/console/'))
        .flatMap((file) => packagesIn(readFileSync(join(ROOT, folder, file), 'utf8')).map((name) => ({ file, name })))
        .filter(({ name }) => !name.startsWith('node:') && !known.has(name)),
    );
    expect(missing).to.deep.equal([]);
  });
});
