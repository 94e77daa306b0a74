import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

export interface Guide {
  /** The part of the guide's address after `/docs/guides/`. */
  name: string;
  title: string;
  /** The path of its file from the root of the repository. */
  file: string;
}

export interface GuideSection {
  title: string;
  guides: readonly Guide[];
}

const ROOT = join(import.meta.dirname, '..', '..');
const README = 'getting-started';

/** The guides grouped by purpose, in the order of the menu. Other files of `docs/` are listed last. */
const SECTIONS: Readonly<Record<string, readonly string[]>> = {
  'Build an application': [
    README,
    'connect',
    'portal',
    'tools',
    'execution',
    'mcp',
    'import',
    'connectors',
    'clients',
    'errors',
  ],
  'Receive events': ['events', 'webhooks'],
  'Run a server': ['operations', 'cli', 'postgresql', 'reliability', 'performance'],
  'Assess its security': ['security', 'asvs'],
};

/** The published guides: the README and the files of `docs/` and `docs/decisions/`. They are read at the first use. */
export interface Guides {
  sections(): readonly GuideSection[];
  /** Returns the guide with a name, and its Markdown. */
  find(name: string): { guide: Guide; markdown: string } | undefined;
  /** Returns the address for a relative link in a guide; undefined if the file that it leads to is not published. */
  addressOf(guide: Guide, link: string): string | undefined;
}

export function createGuides(root = ROOT): Guides {
  const byName = new Map<string, { guide: Guide; markdown: string }>();
  const byFile = new Map<string, Guide>();

  function load(): void {
    if (byName.size > 0) return;
    add('README.md', README, 'Getting started');
    for (const name of markdownIn(root, 'docs')) add(`docs/${name}.md`, name);
    for (const name of markdownIn(root, 'docs/decisions')) add(`docs/decisions/${name}.md`, `decisions/${name}`);
  }

  function add(file: string, name: string, title?: string): void {
    const markdown = readFileSync(join(root, file), 'utf8');
    const guide = { name, file, title: title ?? /^# (.+)$/m.exec(markdown)?.[1] ?? name };
    byName.set(name, { guide, markdown });
    byFile.set(file, guide);
  }

  return {
    sections() {
      load();
      const listed = Object.entries(SECTIONS).map(([title, names]) => ({ title, guides: pick(names) }));
      const known = new Set(listed.flatMap(({ guides }) => guides));
      const guides = [...byFile.values()].filter((guide) => !known.has(guide) && !guide.name.startsWith('decisions/'));
      return [...listed, { title: 'More', guides: [...guides, ...pick(['decisions/README'])] }];
    },
    find(name) {
      load();
      return byName.get(name);
    },
    addressOf({ file }, link) {
      load();
      const [path = '', anchor = ''] = link.split('#');
      const target = posix.join(posix.dirname(file), path);
      const guide = byFile.get(target) ?? byFile.get(posix.join(target, 'README.md'));
      return guide && guideAddress(guide) + (anchor && `#${anchor}`);
    },
  };

  function pick(names: readonly string[]): Guide[] {
    return names.flatMap((name) => byName.get(name)?.guide ?? []);
  }
}

export function guideAddress({ name }: Pick<Guide, 'name'>): string {
  return `/docs/guides/${name}`;
}

/** Returns the names of the Markdown files of a folder, without their ending. */
function markdownIn(root: string, folder: string): string[] {
  const names = readdirSync(join(root, folder)).filter((name) => name.endsWith('.md'));
  return names.map((name) => name.slice(0, -'.md'.length)).sort();
}
