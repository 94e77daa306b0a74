import markdownIt, { type Token } from 'markdown-it';

export interface Heading {
  id: string;
  level: number;
  text: string;
}

export interface RenderedMarkdown {
  html: string;
  headings: readonly Heading[];
}

/**
 * Matches marks such as `<!--LIFETIME.fileMs-->`. A mark follows a figure and names the limit in the code with which a
 * test compares the figure. Pages do not show the marks.
 */
const FIGURE_MARK = /<!--[\w.]+-->/g;

/** GitHub's anchors leave these characters out. */
const NOT_IN_ANCHOR = /[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu;

/**
 * Renders Markdown. HTML in it is shown as text, and links can only have schemes that run no script.
 *
 * @param addressOf returns the address of a relative link; undefined if its target is not published, which leaves the
 * text without a link
 */
export function renderMarkdown(source: string, addressOf: (link: string) => string | undefined): RenderedMarkdown {
  const markdown = markdownIt({ html: false });
  const tokens = markdown.parse(source.replace(FIGURE_MARK, ''), {});
  const headings = nameHeadings(tokens);
  for (const token of tokens) rewriteLinks(token.children ?? [], addressOf);
  // Wide tables and code blocks scroll. `tabindex` lets the keyboard focus them, so that it can scroll them, too.
  markdown.renderer.rules['table_open'] = () => '<div class="table" tabindex="0">\n<table>\n';
  markdown.renderer.rules['table_close'] = () => '</table>\n</div>\n';
  // The header cell of a column without a name becomes an ordinary cell, because a screen reader cannot read it.
  markdown.renderer.rules['th_open'] = (all, index, options, _env, renderer) => {
    if (all[index + 1]?.content === '')
      for (const cell of [all[index], all[index + 2]]) Object.assign(cell ?? {}, { tag: 'td' });
    return renderer.renderToken(all, index, options);
  };
  const html = markdown.renderer.render(tokens, markdown.options, {}).replaceAll('<pre>', '<pre tabindex="0">');
  return { html, headings };
}

/** Gives every heading the anchor that GitHub gives it. */
function nameHeadings(tokens: readonly Token[]): Heading[] {
  const used = new Map<string, number>();
  return tokens.flatMap((token, index) => {
    if (token.type !== 'heading_open') return [];
    const text = plainText(tokens[index + 1]);
    const slug = text.toLowerCase().replace(NOT_IN_ANCHOR, '').replaceAll(' ', '-');
    const times = used.get(slug) ?? 0;
    used.set(slug, times + 1);
    const id = times === 0 ? slug : `${slug}-${times}`;
    token.attrSet('id', id);
    return [{ id, level: Number(token.tag.slice(1)), text }];
  });
}

function plainText(inline: Token | undefined): string {
  return (inline?.children ?? []).map(({ content }) => content).join('');
}

function rewriteLinks(tokens: Token[], addressOf: (link: string) => string | undefined): void {
  let hidden = false;
  for (const token of tokens) {
    if (token.type === 'link_open') {
      const link = String(token.attrGet('href') ?? '');
      const address = /^([a-z][a-z0-9+.-]*:|#)/i.test(link) ? link : addressOf(link);
      hidden = address === undefined;
      if (address !== undefined) token.attrSet('href', address);
    }
    if (hidden && token.type.startsWith('link_')) Object.assign(token, { tag: 'span', attrs: null });
    if (token.type === 'link_close') hidden = false;
  }
}
