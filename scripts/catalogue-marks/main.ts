import { readFile, writeFile } from 'node:fs/promises';
import { readCatalogueFiles } from '../catalogue-files.ts';
import { type Icon, MARKS } from './marks.ts';

const PACKAGE = new URL('../../.catalogue/marks/node_modules/simple-icons/', import.meta.url);

/** An entry of the list of icons; `slug` is missing where the package derives it from the title. */
interface Listed {
  title: string;
  slug?: string;
  hex: string;
  guidelines?: string;
}

/**
 * Copies the icons that connectors name from the package to `catalogue/generated/marks.json`. The package is large, so
 * it is installed only to run this script.
 */
async function main(): Promise<void> {
  const listed = JSON.parse(await readFile(new URL('data/simple-icons.json', PACKAGE), 'utf8')) as Listed[];
  const { titleToSlug } = (await import(new URL('sdk.mjs', PACKAGE).href)) as { titleToSlug(title: string): string };
  const bySlug = new Map(listed.map((icon) => [icon.slug ?? titleToSlug(icon.title), icon]));
  const { connectors } = await readCatalogueFiles();
  const slugs = connectors.flatMap(({ data: { mark } }) => (mark && 'icon' in mark ? [mark.icon] : []));
  const icons: Record<string, Icon> = {};
  for (const slug of [...new Set(slugs)].sort()) {
    const icon = bySlug.get(slug);
    if (!icon)
      throw new Error(`simple-icons has no icon ${slug}: take another one, or a color, in the connector's mark`);
    const svg = await readFile(new URL(`icons/${slug}.svg`, PACKAGE), 'utf8');
    const path =
      /^<svg [^<>]*viewBox="0 0 24 24"[^<>]*><title>[^<>]*<\/title><path d="([MmLlHhVvCcSsQqTtAaZz0-9 ,.+eE-]+)"\/><\/svg>$/.exec(
        svg.trim(),
      )?.[1];
    if (path === undefined) throw new Error(`the icon ${slug} is not one path of 24 by 24 units`);
    const { title, hex, guidelines } = icon;
    icons[slug] = { title, color: `#${hex.toLowerCase()}`, path, ...(guidelines && { guidelines }) };
  }
  await writeFile(MARKS, `${JSON.stringify(icons, null, 1)}\n`);
  console.log(`catalogue/generated/marks.json: ${Object.keys(icons).length} icons`);
}

await main();
