import type { Express } from 'express';
import { type GuideMenu, guidePage, guidesPage } from '../../web/docs/guide-page.ts';
import { createGuides, type Guide, guideAddress } from '../documents/guides.ts';
import { llmsText } from '../documents/llms-text.ts';
import { type DocumentSource, documentRoute, HTML, lazyDocuments } from './documents.ts';
import { otherMethods } from './express-entry-point.ts';

/**
 * Serves the guides: a page for each, its Markdown at the same address with `.md`, and the list for language models.
 */
export function addGuides(app: Express): void {
  const guides = createGuides();
  const menu = (): GuideMenu[] =>
    guides.sections().map(({ title, guides: listed }) => ({
      title,
      links: listed.map((guide) => ({ href: guideAddress(guide), title: guide.title })),
    }));

  async function makeGuide(name: string): Promise<DocumentSource | undefined> {
    const found = guides.find(name.replace(/\.md$/, ''));
    if (!found) return undefined;
    if (name.endsWith('.md')) return { content: found.markdown, options: { type: 'text/markdown; charset=utf-8' } };
    return { content: await pageOf(found.guide, found.markdown), options: { type: HTML } };
  }

  async function pageOf(guide: Guide, markdown: string): Promise<string> {
    // Loaded at the first request for a guide, because few servers receive such a request.
    const { renderMarkdown } = await import('../documents/markdown.ts');
    const { html, headings } = renderMarkdown(markdown, (link) => guides.addressOf(guide, link));
    const sections = headings
      .filter(({ level }) => level === 2)
      .map(({ id, text }) => ({ href: `#${id}`, title: text }));
    return String(guidePage({ title: guide.title, href: guideAddress(guide), menu: menu(), sections, body: html }));
  }

  const pages = lazyDocuments(makeGuide);
  const list = lazyDocuments(() => ({ content: String(guidesPage(menu())), options: { type: HTML } }));
  const add = (path: string, find: typeof pages) =>
    app.route(path).get(documentRoute(find)).all(otherMethods('GET', 'HEAD'));
  const llms = lazyDocuments(() => ({ content: llmsText(guides), options: { type: 'text/plain; charset=utf-8' } }));
  add('/llms.txt', () => llms(''));
  add('/docs/guides', () => list(''));
  add('/docs/guides/:name', pages);
  add('/docs/guides/decisions/:name', (name) => pages(`decisions/${name}`));
}
