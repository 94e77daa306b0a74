import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { SETTINGS } from '../../http/config/settings.ts';
import { ROOT, readPage, sectionOf } from './markdown.ts';

describe('documentation pages', () => {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`);
  const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', ...docs].filter((path) =>
    path.endsWith('.md'),
  );

  for (const page of pages) {
    it(`${page} names files that exist`, () => {
      const named = [...readPage(page).matchAll(/`((?:\.{0,2}[\w-]+\/)+[\w.-]+\.(?:ts|js|sh|sql|yaml|json|md))`/g)];
      const paths = named.map(([, path]) => path as string).filter((path) => !/acme_|getNote/.test(path));
      const rooms = readdirSync(ROOT);
      const ours = paths.filter((path) => rooms.includes(path.split('/')[0] as string));
      expect(ours.filter((path) => !existsSync(join(ROOT, path)))).to.deep.equal([]);
    });

    it(`${page} links to files that exist`, () => {
      const targets = [...readPage(page).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(
        ([, target]) => target as string,
      );
      const local = targets.filter((target) => !/^[a-z]+:/.test(target));
      expect(local.filter((target) => !existsSync(join(ROOT, dirname(page), target)))).to.deep.equal([]);
    });
  }

  it('docs/architecture.md lists every engine with existing files to start reading', () => {
    const rows = sectionOf(readPage('docs/architecture.md'), 'Modules').matchAll(
      /^\| (`[^|]+\/`[^|]*) \|.*\|([^|]*)\|$/gm,
    );
    const engines = readdirSync(join(ROOT, 'core'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    const named = (cell: string) => [...cell.matchAll(/`([\w./-]+)`/g)].map(([, name]) => name as string);
    const listed = [...rows].map(([, modules = '', files = '']) => ({
      modules: named(modules).map((name) => name.replace(/\/$/, '')),
      files: named(files).filter((file) => file.endsWith('.ts')),
    }));
    expect(engines.filter((engine) => !listed.some(({ modules }) => modules.includes(engine)))).to.deep.equal([]);
    const missing = listed.flatMap(({ modules, files }) =>
      files.filter((file) => !existsSync(join(ROOT, 'core', modules[0] as string, file)) && !file.startsWith('http/')),
    );
    expect(missing).to.deep.equal([]);
  });

  it('README.md, docs/operations.md and docs/console.md list exactly the variables that the server reads', () => {
    // OpenTelemetry defines those that begin with OTEL_; the page lists several of them in one row.
    const listed = (page: string) =>
      [...readPage(page).matchAll(/^\| `((?!OTEL_)[A-Z_]+)` \|/gm)].map(([, name]) => String(name)).toSorted();
    const ofConsole = SETTINGS.filter((name) => name.startsWith('VALETKEY_CONSOLE_OIDC_')).toSorted();
    const others = SETTINGS.filter((name) => !name.startsWith('VALETKEY_CONSOLE_OIDC_')).toSorted();
    expect(listed('docs/console.md')).to.deep.equal(ofConsole);
    for (const page of ['README.md', 'docs/operations.md']) expect(listed(page), page).to.deep.equal(others);
  });
});
