import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createGuides, guideAddress } from '../../http/documents/guides.ts';
import { renderMarkdown } from '../../http/documents/markdown.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const DOCS = join(import.meta.dirname, '../../docs');
const guides = createGuides();

describe('the guides', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const get = (path: string) => server.call('GET', path, { token: null });
  const all = () => guides.sections().flatMap((section) => section.guides);

  it('are all in the menu', () => {
    const files = readdirSync(DOCS).filter((name) => name.endsWith('.md'));
    const listed = all().map(({ file }) => file);
    expect(listed).to.include.members([
      'README.md',
      'docs/decisions/README.md',
      ...files.map((name) => `docs/${name}`),
    ]);
    expect(new Set(listed).size).to.equal(listed.length);
  });

  it('are pages whose links lead to existing guides and sections', async () => {
    const anchors = new Map<string, Set<string>>();
    const links: [from: string, to: string][] = [];
    for (const guide of all()) {
      const address = guideAddress(guide);
      const { status, text } = await get(address);
      expect(status, address).to.equal(200);
      anchors.set(address, new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)));
      const found = [...text.matchAll(/href="(#[^"]*|\/docs\/guides\/[^"]+)"/g)].map(([, link = '']) => link);
      for (const link of found) links.push([address, link.startsWith('#') ? address + link : link]);
    }
    for (const [from, to] of links) {
      const [path = '', anchor] = to.split('#');
      if (!anchors.has(path)) expect((await get(path)).status, `${from}: ${to}`).to.equal(200);
      else if (anchor) expect(anchors.get(path), `${from}: ${to}`).to.include(anchor);
    }
  });

  it('name each link by a title, not by a file', async () => {
    const texts: string[] = [];
    for (const guide of all()) {
      const { text } = await get(guideAddress(guide));
      for (const [, link = ''] of text.matchAll(/<a [^>]*>([^<]*)<\/a>/g)) texts.push(`${guide.file}: ${link}`);
    }
    expect(texts).to.include('docs/webhooks.md: Events');
    expect(texts.filter((text) => /\.md$|\/$/.test(text))).to.deep.equal([]);
  });

  it('list their sections below the heading, for narrow pages, and beside the guide', async () => {
    const { text } = await get('/docs/guides/connect');
    const [, below = '', beside = ''] =
      /<\/h1>\s*<details class="contents">(.*?)<\/details>.*<nav class="sections"[^>]*>(.*?)<\/nav>/s.exec(text) ?? [];
    const linksOf = (part: string) => [...part.matchAll(/href="(#[^"]+)"/g)].map(([, href]) => href);
    expect(linksOf(below)).to.include('#languages').and.deep.equal(linksOf(beside));
  });

  it('are also available as Markdown', async () => {
    const { headers, text } = await get('/docs/guides/mcp.md');
    expect(headers['content-type']).to.equal('text/markdown; charset=utf-8');
    expect(text).to.match(/^# MCP/);
  });

  it('do not serve other files', async () => {
    for (const path of ['CONTRIBUTING', '..%2FCONTRIBUTING', 'mcp.html', 'decisions/..%2Fmcp', 'constructor']) {
      expect((await get(`/docs/guides/${path}`)).status, path).to.equal(404);
    }
  });
});

describe('renderMarkdown', () => {
  const render = (text: string) =>
    renderMarkdown(text, (link) => (link.startsWith('known') ? `/${link}` : undefined)).html;

  it('shows HTML as text', () => {
    expect(render('<script>alert(1)</script>')).to.equal('<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n');
    expect(render('a <img src=x onerror=alert(1)> b')).to.include('&lt;img');
  });

  it('gives a column without a name no header', () => {
    const html = render('| | name |\n|---|---|\n| a | b |');
    expect(html).to.match(/<tr>\s*<td><\/td>\s*<th>name<\/th>\s*<\/tr>/);
  });

  it('creates no link that runs a script', () => {
    expect(render('[a](javascript:alert(1))')).not.to.include('href');
    expect(render('[a](data:text/html;base64,x)')).not.to.include('href');
  });

  it('rewrites relative links, and keeps the text of those without a page', () => {
    expect(render('[a](known.md)')).to.equal('<p><a href="/known.md">a</a></p>\n');
    expect(render('[a](../secret.md) b')).to.equal('<p><span>a</span> b</p>\n');
    expect(render('[a](https://acme.example/)')).to.include('href="https://acme.example/"');
  });

  it('gives headings the same ids as GitHub, and omits markers of figures', () => {
    expect(render('# A `b` & c\n# A b  c')).to.include('id="a-b--c"').and.include('id="a-b--c-1"');
    expect(render('256 KiB<!--REQUEST_BODY.bytes-->')).to.equal('<p>256 KiB</p>\n');
  });
});
