import { expect } from 'chai';
import { TOOL_REQUEST } from '../../../core/budgets.ts';
import { markdownToHtml } from '../../../core/tools/markdown-to-html.ts';

/** Converts the only text of a request. */
const convert = (markdown: string) => markdownToHtml(markdown, { chars: 0, cells: 0 });

describe('Markdown as HTML', () => {
  it('has headings, emphasis, links, lists, tables and code, and is well-formed XML', () => {
    const markdown =
      '# A\n\n**b** _c_ [d](https://e.example)  \nf\n\n- g\n\n| h |\n| - |\n| i |\n\n```\n<j>\n```\n\n---\n';
    expect(convert(markdown)).to.deep.equal({
      html:
        '<h1>A</h1>\n<p><strong>b</strong> <em>c</em> <a href="https://e.example">d</a><br />\nf</p>\n<ul>\n<li>g</li>\n</ul>\n' +
        '<table>\n<thead>\n<tr>\n<th>h</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>i</td>\n</tr>\n</tbody>\n</table>\n' +
        '<pre><code>&lt;j&gt;\n</code></pre>\n<hr />\n',
    });
  });

  it('shows HTML as text, so that a text can add no element of an application', () => {
    const { html } = convert('<ac:macro ac:name="y">x</ac:macro>\n\n<script>y</script>') as { html: string };
    expect(html)
      .to.include('&lt;ac:macro ac')
      .and.include('&lt;script&gt;')
      .and.not.match(/<(ac|script)/);
  });

  it('makes no link that runs a script', () => {
    const { html } = convert('[a](javascript:alert(1)) [b](https://c.example)') as { html: string };
    expect(html).to.include('href="https://c.example"').and.not.include('href="javascript');
  });

  it('refuses a text that is too long, and tables that would become much longer than their text', () => {
    const most = 'a'.repeat(TOOL_REQUEST.markdownChars);
    expect(convert(most)).to.have.property('html');
    expect(convert(`${most}a`)).to.deep.equal({ problem: 'must be Markdown of at most 25000 characters' });
    const table = (rows: number) => `${'|a'.repeat(50)}\n${'|-'.repeat(50)}\n${'|\n'.repeat(rows)}`;
    expect(convert(table(100))).to.have.property('html');
    expect(convert(table(1_000))).to.deep.equal({
      problem: 'must have smaller tables: its lines times the most "|" in a line must be at most 20000',
    });
  });
});
