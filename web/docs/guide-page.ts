import { Html, html } from '../html.ts';
import { docsLayout } from './layout.ts';

export interface GuideLink {
  href: string;
  title: string;
}

export interface GuideMenu {
  title: string;
  links: readonly GuideLink[];
}

export interface GuideView {
  title: string;
  href: string;
  menu: readonly GuideMenu[];
  /** The sections of this guide, by their anchors. */
  sections: readonly GuideLink[];
  /** The guide, rendered from Markdown without any HTML of its author. */
  body: string;
}

/** A guide, with the menu of all guides and the sections of this one. */
export function guidePage({ title, href, menu, sections, body }: GuideView): Html {
  return docsLayout({
    title: `${title} – Valetkey`,
    current: '/docs/guides',
    content: html`    <div class="guide">
${menuHtml(menu, href)}      <main id="content">
        <article>
${withContents(body, sections)}        </article>
      </main>
${sectionsHtml(sections)}    </div>`,
  });
}

/** Adds the list of sections below the heading, closed, for narrow pages. Wide pages show the list beside the guide. */
function withContents(body: string, sections: readonly GuideLink[]): Html {
  const end = body.indexOf('</h1>') + '</h1>'.length;
  if (sections.length < 2 || !body.includes('</h1>')) return new Html(body);
  const contents = html`
        <details class="contents">
          <summary>On this page</summary>
          <ul>
${itemsHtml(sections)}          </ul>
        </details>`;
  return new Html(`${body.slice(0, end)}${contents}${body.slice(end)}`);
}

function itemsHtml(links: readonly GuideLink[]): Html {
  return html`${links.map(({ href, title }) => html`            <li><a href="${href}">${title}</a></li>\n`)}`;
}

/** The list of all guides. */
export function guidesPage(menu: readonly GuideMenu[]): Html {
  const groups = menu.map(
    ({ title, links }) => html`        <section>
          <h2>${title}</h2>
          <ul>
${links.map((link) => html`            <li><a href="${link.href}">${link.title}</a></li>\n`)}          </ul>
        </section>
`,
  );
  return docsLayout({
    title: 'Guides – Valetkey',
    current: '/docs/guides',
    content: html`    <main id="content" class="page">
      <h1>Guides</h1>
      <div class="groups">
${groups}      </div>
    </main>`,
  });
}

function menuHtml(menu: readonly GuideMenu[], current: string): Html {
  const groups = menu.map(({ title, links }) => {
    const items = links.map((link) => {
      const mark = link.href === current ? html` aria-current="page"` : html``;
      return html`            <li><a href="${link.href}"${mark}>${link.title}</a></li>\n`;
    });
    return html`          <li><span class="group">${title}</span>
          <ul>
${items}          </ul></li>
`;
  });
  return html`      <nav class="guides" aria-label="Guides">
        <ul>
${groups}        </ul>
      </nav>
`;
}

function sectionsHtml(sections: readonly GuideLink[]): Html {
  if (sections.length < 2) return html``;
  return html`      <nav class="sections" aria-label="On this page">
        <p class="group">On this page</p>
        <ul>
${itemsHtml(sections)}        </ul>
      </nav>
`;
}
